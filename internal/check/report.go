package check

import (
	"fmt"
	"os"
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
}

// Error returns the report as a text of some lines.
func (r *Report) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "haven: %s: %s\n", r.What, r.Detail)
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

// Raise reports a mistake: it prints the report and panics with it, in the goroutine
// that found it, which need not be the one that made it. No lock of an allocator's
// may be held.
func Raise(r *Report) {
	handler.mu.Lock()
	f := handler.f
	handler.mu.Unlock()
	if f != nil {
		f(r)
		return
	}
	fmt.Fprintln(os.Stderr, r.Error())
	panic(r)
}
