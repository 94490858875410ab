//go:build haven_check

package check_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
)

// A batch has slices of elements of several sizes, and numbers that count.
type batch struct {
	name  string
	list  []int
	names []string
	large [][9000]byte
	n     int
	small int32
}

var output []byte

// What uses the length of what a released batch holds ends as a fault that tells which
// memory it was, and not as a length that is out of range, or as memory that runs out.
func TestLengths(t *testing.T) {
	for what, use := range map[string]func(b *batch){
		"appended":     func(b *batch) { output = append(output, b.name...) },
		"converted":    func(b *batch) { output = []byte(b.name) },
		"concatenated": func(b *batch) { output = append(output, "name: "+b.name+b.name...) },
		"cloned":       func(b *batch) { output = append(output, strings.Clone(b.name)...) },
		"printed":      func(b *batch) { output = fmt.Append(output, b.name) },
		"repeated":     func(b *batch) { output = append(output, strings.Repeat(b.name, 3)...) },
		"buffered":     func(b *batch) { new(bytes.Buffer).WriteString(b.name) },
		"encoded":      func(b *batch) { output, _ = json.Marshal(b.names) },
		"ranged over": func(b *batch) {
			for _, n := range b.list {
				output = append(output, byte(n))
			}
		},
		"copied by its length": func(b *batch) { copy(make([]int, len(b.list)), b.list) },
		"grown":                func(b *batch) { b.list = append(b.list, 1) },
		"grown, and large":     func(b *batch) { b.large = append(b.large, [9000]byte{}) },
		"read at its end":      func(b *batch) { output = append(output, b.name[len(b.name)-1]) },
		"cut at its end":       func(b *batch) { output = append(output, byte(b.list[len(b.list)-1:][0])) },
	} {
		m := mistake{what, func(here func(string)) {
			a := arena.NewArena(arena.Config{Name: "requests"})
			here("allocated")
			b := arena.New[batch](a)
			here("released")
			a.Reset()
			arena.New[batch](a)
			a.Reset() // an address beside the page would be this one's
			use(b)
		}, []string{"use after release", `a check_test.batch of arena "requests"`}}
		got, _, sites := m.reports()
		t.Run(what, func(t *testing.T) { m.is(t, got, sites) })
	}
}

// explained returns the report for the panic of f.
func explained(f func()) (r *check.Report, v any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v = recover()
		r = check.Explain(v)
	}()
	f()
	return nil, nil
}

// A number or a length that was read from released memory and does not fit is known by
// its value.
func TestNumbersExplained(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "numbers"})
	b := arena.New[batch](a)
	a.Reset()
	var u bump.Arena
	address := (**int)(u.Alloc(8, 8))
	u.Reset()
	few, index := make([]int, 3), 3
	for what, x := range map[string]struct {
		use  func()
		want []string
	}{
		"a slice up to a number":   {func() { few = few[:b.n] }, []string{"haven: use after release", fmt.Sprint(b.n)}},
		"an index":                 {func() { few[b.n-1]++ }, []string{"haven: use after release", fmt.Sprint(b.n - 1)}},
		"a small number":           {func() { few[b.small]++ }, []string{"haven: use after release", fmt.Sprint(b.small)}},
		"an index behind a length": {func() { b.list[100000+index]++ }, []string{"perhaps a use after release", fmt.Sprint(len(b.list), " ")}},
		"a slice up to a length":   {func() { few = few[:len(b.name)] }, []string{"perhaps a use after release", fmt.Sprint(len(b.name))}},
		"make":                     {func() { few = make([]int, b.n) }, []string{"perhaps a use after release", "makeslice: len out of range"}},
		"Repeat":                   {func() { _ = strings.Repeat("x", b.n) }, []string{"perhaps a use after release", "negative Repeat count"}},
		"make with an argument that is released": {func() { b.reserve() }, []string{"perhaps a use after release",
			`memory: a check_test.batch of arena "numbers"`, "allocated at", "released at"}},
		"a number for an address": {func() { **address++ }, []string{"use after release"}},
	} {
		r, v := explained(x.use)
		if v == nil || r == nil {
			t.Errorf("%s: the panic %v has no report", what, v)
			continue
		}
		for _, want := range x.want {
			if !strings.Contains(r.Error(), want) {
				t.Errorf("%s: no %q in\n%v", what, want, r)
			}
		}
	}
}

// reserve has the released object among its arguments, and still needs it when it
// panics.
//
//go:noinline
func (b *batch) reserve() []int {
	list := make([]int, b.n)
	list[0] = b.n
	return list
}

// Other panics have no report: numbers that are not of released memory, numbers in
// messages of programs, and panics of other kinds.
func TestOtherPanics(t *testing.T) {
	a := arena.NewArena()
	b := arena.New[batch](a)
	a.Reset()
	few, index := make([]int, 3), 1234
	var none *batch
	for what, use := range map[string]func(){
		"an index":             func() { few[index]++ },
		"a slice":              func() { few = few[:index] },
		"a negative index":     func() { few[-index]++ },
		"a nil pointer":        func() { none.n++ },
		"a failed assertion":   func() { _ = any(index).(string) },
		"a length in a text":   func() { panic(fmt.Sprintf("id %d is not known", len(b.name))) },
		"a length in an error": func() { panic(fmt.Errorf("id %d is not known", len(b.name))) },
		"an error":             func() { panic(errors.New("runtime")) },
		"a number":             func() { panic(len(b.name)) },
		"an error that panics": func() { panic((*badError)(nil)) },
		"a report":             func() { panic(&check.Report{Detail: fmt.Sprint(b.n)}) },
	} {
		r, v := explained(use)
		if v == nil || r != nil {
			t.Errorf("%s: the panic %v has the report\n%v", what, v, r)
		}
	}
	runtime.KeepAlive(a)
}

type badError struct{ text string }

func (e *badError) Error() string { return e.text }

// Before anything was poisoned no number is poison.
func TestNothingReleased(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	n := -1
	if r, _ := explained(func() { output = make([]byte, n) }); r != nil {
		t.Errorf("nothing was released, and the report is\n%v", r)
	}
}
