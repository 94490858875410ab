package check

import "github.com/haven-mem/haven/internal/guard"

// What is recommended for [SetGuard]: about one release in GuardRate, in GuardSlots
// slots.
const (
	GuardRate  = guard.Rate
	GuardSlots = guard.Slots
)

// SetGuard turns the sampled guard on, for programs in production: about one release
// in rate of arenas and slab caches is watched by the hardware, so that a use of the
// memory afterwards faults at its instruction. It is off by default, and a rate of 0
// turns it off again. Call it at the start of main:
//
//	check.SetGuard(check.GuardRate, check.GuardSlots)
//
// A [github.com/haven-mem/haven/slab.Cache] hands out an object on pages of its own,
// with pages without access on both sides; at its Free they lose their access as well.
// An arena or lane that is Reset gets such pages for the next chunk of one of its
// types. That is for types without pointers. Memory with pointers stays where the
// garbage collector sees it: after its release it is not used again but poisoned, so
// that following a pointer, string or interface that is read from it faults, and a
// write to it is found when its slot is needed, see [OnGuard]. Objects and chunks of
// more than 64 KiB, caches with Init or Reset, [github.com/haven-mem/haven/slab.Local],
// and the packages bump and pool are not guarded. On systems other than Linux and
// macOS there are no pages, and all is poisoned.
//
// At most slots objects or chunks, from 1 to 255, are under guard at a time. Released
// ones give way to new ones, the first released first. What is never released keeps
// its slot, and so do chunks of an arena that ends with Free, whose values stay valid.
//
// An object on pages of its own is no object of Go's heap: weak.Make and
// runtime.SetFinalizer end the program for it, runtime.AddCleanup panics, and the race
// detector does not see it.
//
// A fault ends the program, and [MonitorGuard] makes it print the report, with the
// stacks of the allocation and the release. Where debug.SetPanicOnFault is set it is a
// panic, and [Explain] returns the report.
//
// A guarded object costs some microseconds, and at most 160 in a second are drawn. A
// rate of 1, for tests, guards everything for which there is a slot. A slot takes up
// to 64 KiB.
//
// SetGuard returns an error, and changes nothing, if rate is negative or above
// 4294967295, or slots is not from 1 to 255. The environment variable HAVEN_GUARD=RATE
// or RATE,SLOTS does the same without a change to the program. In the check build
// everything is watched anyway, and SetGuard does nothing. It may be called from any
// goroutine; from one in a bubble of testing/synctest, caches are sampled from the next
// garbage collection on. (The idea is GWP-ASan's and KFENCE's.)
func SetGuard(rate, slots int) error { return guard.Set(rate, slots) }

// OnGuard has f called with each mistake that the guard finds without a fault: writes
// after the release, and beside an object. A nil f has them printed on standard error,
// as they are by default. f is called in a goroutine that uses an allocator, maybe not
// the one that made the mistake, and maybe in several at a time. It should not use the
// allocator that it is called from.
func OnGuard(f func(*Report)) { guard.Tell(f) }

// MonitorGuard has a process beside this one that waits for it to crash, and prints the
// guard's report of the fault, if that is what it was, on standard error. That process
// is this program, started again; in it MonitorGuard never returns. So call it in the
// first line of main, before flags are read or files opened:
//
//	func main() {
//		check.MonitorGuard()
//		check.SetGuard(check.GuardRate, check.GuardSlots)
//		…
//
// It uses [runtime/debug.SetCrashOutput], which a process has once. Each guarded object
// is written to a temporary file without a name, which takes some microseconds. It
// returns an error where the process cannot be started, and on Windows. A second call
// does nothing.
//
// In the check build, where the guard is off, the report is that of the check build, for
// the latest 4,096 releases of memory with pointers, and for numbers of released memory
// in the message of a panic. There each such release takes some microseconds more.
func MonitorGuard() error { return guard.Monitor() }
