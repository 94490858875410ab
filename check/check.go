// Package check finds memory mistakes in programs that use Haven. Use it in tests, and
// the sampled guard and the finders in production:
//
//   - the check build, go test -tags haven_check, which reports every misuse it can
//     find, with stacks (below): [Verify], [Handle], [Explain];
//   - stale pointers, which outlive a release, in any build: [VerifyNoStale] in tests,
//     [StalePointers] and [OnStale] in production;
//   - leaks, contexts and arenas that are dropped, grow or live too long, in any build:
//     [VerifyNone] in tests, [Leaks] in production;
//   - the sampled guard for production: [SetGuard].
//
// # The check build
//
//	go test -tags haven_check ./...
//
// There, arenas, bump arenas, slabs and pools poison what was released and keep it in
// quarantine before it is used again, and report what a program does with it all the
// same, and more:
//
//   - a write after Reset, Release, Free, Remove or Put, when the memory leaves the
//     quarantine, is handed out again, or [Verify] looks at it;
//   - a pointer, string, slice, map or interface that is read from released memory
//     and followed: a fault, which [Explain] turns into a report;
//   - a number or a length from released memory that does not fit: a panic of the
//     runtime, or of a function that got it; [Explain] knows it by the number;
//   - a second Free, one of a pointer of another cache, and one of a pointer into
//     an object: at once;
//   - a second Put, into the same pool or another, of an object, or of the bytes of a
//     buffer, and a Put of a part of an object or of an idle buffer: at once;
//   - a write of up to eight bytes before or behind an allocation of package bump, when
//     it is reset, freed or reallocated, or [Verify] looks at it;
//   - a pointer from memory of package bump to a heap object that nothing else keeps: when
//     the arena is used, reset or freed, or [Verify] is called, after a collection has
//     taken the object; only if the arena was used, or Verify called, between the store
//     and the collection; not with -race;
//   - use of an arena, lane, bump arena, slab.Local, slab.Table or pool.Local by two
//     goroutines at once, when operations overlap; not with -race, whose detector finds
//     more;
//   - use of a copy of one of these: at once; of lanes and what is in slab and pool not
//     with -race.
//
// A report names the type, the arena, cache or pool, the field that was written to, and
// where the memory was allocated, released and found. It is printed on standard error and
// is the value of a panic, in the goroutine that finds the mistake. Mistakes that are the
// same but for addresses and values are one report, with a count, if they are found at
// once; otherwise only the first is printed in full.
//
// The default build checks nothing of this, and pays nothing: there Verify and
// Explain find nothing, but for what [SetGuard] has guarded. The environment
// variable HAVEN_CHECK chooses what is checked; HAVEN_CHECK=help lists it.
//
// # Faults
//
// By default a fault ends the program, with the address in the message. To have it
// explained, make it a panic in the goroutines of a test:
//
//	func TestParse(t *testing.T) {
//		debug.SetPanicOnFault(true)
//		defer func() {
//			v := recover()
//			if r := check.Explain(v); r != nil {
//				t.Fatal(r)
//			} else if v != nil {
//				panic(v)
//			}
//		}()
//		…
//	}
//
// Package memhttp and the interceptors for gRPC do so for handlers: a fault in one is a
// panic, and the report is printed, with the route, or given to the function of
// [Handle], before the panic goes on. Elsewhere a fault ends the program; where main, or
// TestMain, has called [MonitorGuard], the report is printed all the same.
//
// Strings and slices in released memory have a length of 56,283 bytes in all, or about
// that, so that appending, copying or reading them faults. All other numbers are bytes
// of 0xDB.
//
// The runtime cannot print the panic of a type assertion on an interface out of
// released memory; Explain explains it as well.
package check

import (
	"errors"

	"github.com/haven-mem/haven/internal/check"
)

// Enabled is whether this is the check build.
const Enabled = check.Enabled

// A Report is about one mistake, or Count that are the same but for addresses and values:
// an error of several lines, whose fields are what happened, details, whose memory it is,
// and the stacks as a panic prints them, empty where they are not known: of the
// allocation, of the release, of where it was found, and of another goroutine that was at
// work. Serving is the request that a server's handler was at. The fields are of the
// first of several mistakes, but for Last, the details of the last.
type Report = check.Report

// Explain returns the report for a panic value that comes from what was read from
// released memory, or from an access to memory that [SetGuard] guards, in any build, and
// nil for any other value. A fault is a panic only in goroutines that called
// debug.SetPanicOnFault(true). For a number that does not fit, the report says which
// memory it comes from only if a function that panicked has a pointer there among its
// arguments, and Explain is called by a deferred function. Where a panic does not show
// for certain that it comes from released memory, the report is "perhaps a use after
// release": lengths of 1,000 and more that released memory has, and messages without the
// number, like that of makeslice. Explain may be called from any goroutine; it costs
// some microseconds, and more where much is in quarantine.
func Explain(recovered any) *Report { return check.Explain(recovered) }

// Verify looks at all memory that is in quarantine and at bump arenas in use, and returns an
// error that joins the reports of what was written to, or nil. It reports each mistake once, and
// joins those that are the same. It costs what reading the quarantine does, 64 MiB unless
// HAVEN_CHECK says otherwise, and two garbage collections if memory of bump arenas points to
// objects elsewhere. It may be called from any goroutine.
func Verify() error {
	var found []error
	for _, r := range check.Verify() {
		found = append(found, r)
	}
	return errors.Join(found...)
}

// Handle makes f get each report, in place of a panic; a nil f makes it a panic
// again. f is called in the goroutine that found the mistake, which goes on
// afterwards as if nothing had been wrong; a Free or Put that is a mistake does
// nothing then.
func Handle(f func(*Report)) { check.Handle(f) }
