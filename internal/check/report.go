package check

import (
	"fmt"
	"strings"
	"sync"
)

// A Report is about one mistake. It is an error, and what a panic has as its value.
type Report struct {
	What      string // "write after release"
	Detail    string
	Memory    string // whose, and of which type
	Allocated string // stacks, as a panic prints them; "" if they are not known
	Released  string
	Now       string
	Other     string // of another goroutine
	Serving   string // what a server was at: "GET /orders/{id}"; "" elsewhere
	Count     int    // mistakes that are the same but for addresses and values, if there are several; the fields are of the first
	Last      string // Detail of the last of them
}

// Error returns the report as a text of some lines.
func (r *Report) Error() string {
	var b strings.Builder
	b.WriteString("haven: ")
	if r.Count > 1 {
		fmt.Fprintf(&b, "%d × ", r.Count)
	}
	fmt.Fprintf(&b, "%s: %s\n", r.What, r.Detail)
	if r.Last != "" {
		fmt.Fprintf(&b, "the last: %s\n", r.Last)
	}
	if r.Serving != "" {
		fmt.Fprintf(&b, "serving: %s\n", r.Serving)
	}
	if r.Memory != "" {
		fmt.Fprintf(&b, "memory: %s\n", r.Memory)
	}
	for _, s := range []struct{ title, stack string }{{"allocated", r.Allocated}, {"released", r.Released}, {"found", r.Now}, {"meanwhile another goroutine", r.Other}} {
		if s.stack != "" {
			fmt.Fprintf(&b, "%s at\n\t%s\n", s.title, strings.ReplaceAll(strings.TrimSuffix(s.stack, "\n"), "\n", "\n\t"))
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var handler struct {
	mu sync.Mutex
	f  func(*Report)
}

// Handle makes f get the reports, in place of a panic; nil: a panic again.
func Handle(f func(*Report)) {
	handler.mu.Lock()
	defer handler.mu.Unlock()
	handler.f = f
}

// Tell gives a report to the handler, or prints it, and reports whether there is one.
func Tell(r *Report) (handled bool) {
	handler.mu.Lock()
	f := handler.f
	handler.mu.Unlock()
	if f != nil {
		f(r)
		return true
	}
	Print(r)
	return false
}

// Raise reports a mistake: it prints the report and panics with it, in the goroutine
// that found it, which need not be the one that made it. No lock of an allocator's
// may be held.
func Raise(r *Report) {
	if !Tell(r) {
		panic(r)
	}
}

// RaiseAll raises each of the reports, as found by the caller, also if one panics. Those
// that are the same are one.
func RaiseAll(found []*Report) {
	if len(found) == 0 {
		return
	}
	for _, r := range found {
		r.Now = Release().String()
	}
	raiseEach(Merge(found))
}

func raiseEach(list []*Report) {
	if len(list) > 0 {
		defer raiseEach(list[1:])
		Raise(list[0])
	}
}
