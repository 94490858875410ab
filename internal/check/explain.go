package check

import (
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
)

// What a program does with what it read from released memory ends in one of these, and
// Explain knows
//
//   - a fault, by its address;
//   - a number, or a length, that does not fit, by its value in the text of the panic;
//   - one that does not fit either, but whose text has no value: perhaps.
//
// The last two do not tell which memory it was. But often a function that panicked has
// a pointer to it among its arguments, and the runtime prints those.

// Certain, or not.
const (
	useAfterRelease = "use after release"
	perhaps         = "perhaps a use after release"
)

// A history is what is known of memory that was released, as reports have it; zero:
// nothing.
type history struct{ memory, allocated, released string }

// report returns the report about it.
func (k history) report(what, format string, args ...any) *Report {
	return &Report{What: what, Detail: fmt.Sprintf(format, args...), Memory: k.memory, Allocated: k.allocated, Released: k.released}
}

// Explain returns the report for a panic value that comes from what was read from
// released memory, and nil for any other. A fault is a panic only where
// debug.SetPanicOnFault was called; else it ends the program.
func Explain(recovered any) (r *Report) {
	defer func() {
		if r != nil {
			r.Now = Release().String()
		}
	}()
	text := ""
	switch v := recovered.(type) {
	case *Report:
		return nil
	case interface{ Addr() uintptr }:
		return explainFault(v.Addr())
	case string:
		text = v
	case error:
		var fault any
		if text, fault = textOf(v); fault != nil {
			if f, ok := fault.(interface{ Addr() uintptr }); ok {
				return explainFault(f.Addr())
			}
			return nil
		}
		if _, ok := v.(*runtime.TypeAssertionError); ok {
			return nil // it has names, and no values
		}
	}
	_, ofRuntime := recovered.(runtime.Error)
	r = ExplainText(text, ofRuntime)
	if r == nil || !poisoned.Load() {
		return nil
	}
	if k := witness(); k.memory != "" {
		r.Memory, r.Allocated, r.Released = k.memory, k.allocated, k.released
	}
	return r
}

// textOf returns the text of an error, or what it panics with: that of a failed
// assertion on an interface out of released memory, which has no type, faults.
func textOf(e error) (text string, fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { fault = recover() }()
	return e.Error(), nil
}

// Guard is what package guard knows, which this one must not import: the report for a
// fault at an address, and for what was written to after its release. It is set before
// main.
var Guard struct {
	Explain func(address uintptr) *Report
	Verify  func() []*Report
}

// explainFault returns the report for a fault at an address, or nil.
func explainFault(address uintptr) *Report {
	if Guard.Explain != nil {
		if r := Guard.Explain(address); r != nil {
			r.Now = leak.Here("", "").Stack()
			return r
		}
	}
	if f, poison := releasedAt(address); poison {
		return f.memory().followed(address)
	}
	if !poisoned.Load() {
		return nil
	}
	if near(signed(address), signed(patternWord), reach) {
		return witness().report(useAfterRelease, "a number that was read from released memory was used as an address, %#x", address)
	}
	if address == 0 { // a nil pointer's fault comes without an address
		return witness().report(perhaps, "an address was used that the processor has none of, as the numbers in released memory are")
	}
	return nil
}

// Followed returns the report for a poisoned pointer that another process has followed.
func Followed(address uintptr, memory, allocated, released string) *Report {
	return history{memory, allocated, released}.followed(address)
}

// followed returns the report for a poisoned pointer that was followed.
func (k history) followed(address uintptr) *Report {
	return k.report(useAfterRelease, "a pointer that was read from released memory was followed, to %#x", address)
}

// signed returns what a word is as an int.
func signed(w uintptr) int64 { return int64(int(w)) }

// near reports whether n is a number or a little beside it.
func near(n, number, by int64) bool { return n-number <= by && number-n <= by }

var numbers = regexp.MustCompile(`-?[0-9]+`)

// lengthless are what is said of lengths without telling them, by the runtime and by
// others.
var lengthless = regexp.MustCompile(`^runtime error: (make|grow)slice: |^runtime error: makechan: |^runtime error: unsafe\.(Slice|String): |` +
	`^(strings|bytes)[.:].*(negative|too large|overflow)|^slices\.(Grow|Repeat)|^cannot be negative$`)

// ExplainText returns the report for the text of a panic, of the runtime's or of another,
// that comes from a number out of released memory, or nil. It does not say which
// memory that is.
func ExplainText(text string, ofRuntime bool) *Report {
	const beside = 16 // what is left of a difference that programs add
	whose := history{memory: "not known, as a number does not tell; see what the functions below have read"}
	for _, digits := range numbers.FindAllString(text, -1) {
		n, err := strconv.ParseInt(digits, 10, 64)
		if u, bad := strconv.ParseUint(digits, 10, 64); err != nil && bad == nil {
			n, err = int64(u), nil
		}
		if err != nil {
			continue
		}
		switch x := uint64(pattern64); {
		case near(n, int64(x), reach), near(n, int64(int32(x)), beside), near(n, int64(uint32(x)), beside):
			return whose.report(useAfterRelease, "%s: %d is what numbers are in released memory", text, n)
		case ofRuntime && near(n, int64(int16(x)), 1):
			return whose.report(perhaps, "%s: %d is what small numbers are in released memory", text, n)
		case !ofRuntime:
			continue
		}
		for _, m := range []int64{n, n - 1, n + 1} {
			if size, ok := elementOf(int(m)); ok {
				return whose.report(perhaps, "%s: %d is the length in released memory of a slice whose elements have %s, or of a string if that is one",
					text, m, account.Count(size, "byte"))
			}
		}
	}
	if lengthless.MatchString(text) {
		return whose.report(perhaps, "%s: so are numbers and lengths that were read from released memory", strings.TrimSpace(text))
	}
	return nil
}

var arguments = regexp.MustCompile(`0x[0-9a-f]+`)

// witness returns what is known of released memory that an argument of the functions
// points into that panicked, the one that panicked first. It must be called by what a
// deferred function calls.
func witness() history {
	b := make([]byte, 64<<10)
	_, stack, _ := strings.Cut(string(b[:runtime.Stack(b, false)]), "\npanic(")
	frames := strings.Split(stack, "\n")
	for _, frame := range frames[1:] {
		if strings.HasPrefix(frame, "\t") {
			continue
		}
		for _, digits := range arguments.FindAllString(frame, -1) {
			address, _ := strconv.ParseUint(digits, 0, 64)
			if f, poison := releasedAt(uintptr(address)); poison {
				return f.memory()
			}
			if k, ok := releasedAround(uintptr(address)); ok {
				return k
			}
		}
	}
	return history{}
}
