package request

import (
	"runtime/debug"

	"github.com/haven-mem/haven/internal/check"
)

// FaultsPanic makes faults panics on the handler's goroutine until the function that it
// returns is called.
func FaultsPanic() (end func()) {
	before := debug.SetPanicOnFault(true)
	return func() { debug.SetPanicOnFault(before) }
}

// Explain is for the check build, and a value with which a handler panics. Where it comes
// from what the handler read from released memory, the report is told, with what the
// handler served; a report that the handler panics with gets this, too. It is called by
// what a deferred function calls, which has the panic go on.
func Explain(v any, serving func() string) {
	if r, ok := v.(*check.Report); ok {
		if r.Serving == "" {
			r.Serving = serving()
		}
		return
	}
	if r := check.Explain(v); r != nil {
		r.Serving = serving()
		check.Tell(r)
	}
}
