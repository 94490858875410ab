package pool

import (
	"fmt"
	"math"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/config"
)

// A Config has the settings of a pool made by [New]. In the zero Config all are the
// default.
type Config[T any] struct {
	// Name is what panics and statistics show. A pool with a name is listed by [Pools].
	// The default is none.
	Name string

	// Max bounds how many objects lie idle. A Put that comes on top drops its object. The
	// bound is strict, since the magazines of the Ps count as if they were full: at most
	// half of the bound goes to them, and where that leaves no P an object, there are no
	// magazines, and each operation takes the lock. 0 means no bound; it must not be
	// negative.
	Max int

	// MaxBytes bounds how many bytes lie idle, as strictly as Max bounds objects. Without
	// Cost, an object counts as the size of its type. 0 means no bound; it must not be
	// negative.
	MaxBytes int

	// Cost says how many bytes an object counts as, its type's own size and all that is
	// behind its pointers, for MaxBytes and for [Stats.Bytes]. It is called once for each
	// Put, after Reset, by the goroutine that puts, with no lock held. An object that costs
	// more than a magazine takes, a quarter of MaxBytes divided by GOMAXPROCS, goes to the
	// depot by itself; one for which there is no room is dropped. If it does not return,
	// the object is dropped; if it returns a negative number, Put panics. nil means the
	// size of the type.
	Cost func(*T) int

	// Floor is how many idle objects trimming leaves. It keeps what is there, and makes
	// none. The default is 0; it must not be negative, nor above Max.
	Floor int

	// Idle is the time after which objects that nobody asked for are trimmed: half of
	// them after half of that time, half of the rest after another half, and so on. A
	// timer runs as long as there is something to trim; it is at rest while the pool is
	// not used, and goes with it. In a bubble of testing/synctest, too, real time counts,
	// from the next garbage collection on. Less than 2 ms counts as 2 ms. 0 means that
	// garbage collections set the pace; it must not be negative.
	Idle time.Duration

	// Reset is called by Put with the object, to make it ready for its next user: it
	// should drop what the object refers to and may keep what is costly to make again.
	// What it leaves, the next user sees. It is called by the goroutine that puts, with no
	// lock held. If it does not return, the object is not put, and stays counted as in
	// use. nil means that objects stay as they are.
	Reset func(*T)
}

// A LocalConfig has the settings of a Local made by [NewLocal]. In the zero LocalConfig
// all are the default.
type LocalConfig[T any] struct {
	// Name is what panics and statistics show. The default is none.
	Name string

	// Max bounds how many objects lie idle. A Put that comes on top drops its object. 0
	// means 64, and -1 no bound; it must not be less.
	Max int

	// Reset is called by Put, like Reset of a [Config].
	Reset func(*T)
}

// A BytesConfig has the settings of a Bytes made by [NewBytes]. Bounds and floor hold for
// all size classes together. In the zero BytesConfig all are the default.
type BytesConfig struct {
	// Name is what panics and statistics show. A Bytes with a name is listed by [Pools].
	// The default is none.
	Name string

	// Max bounds how many buffers lie idle, as Max of a [Config] bounds objects. 0 means
	// no bound; it must not be negative.
	Max int

	// MaxBytes bounds how many bytes lie idle, as strictly. 0 means 64 MiB, and -1 no
	// bound; it must not be less.
	MaxBytes int

	// Floor is how many idle buffers trimming leaves, the smallest. The default is 0; it
	// must not be negative, nor above Max.
	Floor int

	// Idle is the time after which buffers are trimmed, like Idle of a
	// [Config].
	Idle time.Duration

	// Dirty makes the Bytes hand out buffers as they were put, with what their last user
	// left in them. Putting one then costs the same whatever its size. It is for programs
	// in which each user of a buffer writes all that anybody will read of it; where one
	// does not, a request sees the bytes of another, passwords included. (The check build
	// hands out poison.)
	Dirty bool
}

// An object stands for one of any type, and a Config of it for those of all types, in what
// pools of all types have in common.
type object struct{}

// common returns the Configs that New was given as those of objects.
func common[T any](conf []Config[T]) []Config[object] {
	// SAFETY: GC.md fact 24: Configs differ in what pointers that functions take point to.
	return *(*[]Config[object])(unsafe.Pointer(&conf))
}

// commonLocal is common for NewLocal.
func commonLocal[T any](conf []LocalConfig[T]) []LocalConfig[object] {
	return *(*[]LocalConfig[object])(unsafe.Pointer(&conf)) // SAFETY: GC.md fact 24.
}

// untyped returns f as one that takes a pointer without type.
func untyped(f func(*object)) func(unsafe.Pointer) {
	return *(*func(unsafe.Pointer))(unsafe.Pointer(&f)) // SAFETY: GC.md fact 24.
}

// untypedCost is untyped for a Cost.
func untypedCost(f func(*object) int) func(unsafe.Pointer) int {
	return *(*func(unsafe.Pointer) int)(unsafe.Pointer(&f)) // SAFETY: GC.md fact 24.
}

// none is a bound that is none.
const none = math.MaxInt

// orNone returns a bound, of which 0 and -1 are none.
func orNone(n int) int {
	if n <= 0 {
		return none
	}
	return n
}

// What bounds may be.
const (
	objectsOrNone   = "a number of objects, 0 (no bound) or more"
	bytesOrNone     = "a number of bytes, 0 (no bound) or more"
	objectsOrUsual  = "a number of objects, 0 (the default), or -1 (no bound)"
	bytesOrUsual    = "a number of bytes, 0 (the default), or -1 (no bound)"
	objectsToLeave  = "a number of objects, 0 or more"
	durationOrNever = "a duration, 0 (at collections) or more"
)

// check panics for settings that a Pool and a Bytes have in common and that are out of
// their range. The kind is the type's name.
func (c *BytesConfig) check(kind string) {
	field := func(name string) string { return "pool: " + kind + "." + name }
	config.AtLeast(field("Max"), c.Max, 0, objectsOrNone)
	config.AtLeast(field("Floor"), c.Floor, 0, objectsToLeave)
	config.AtLeast(field("Idle"), c.Idle, 0, durationOrNever)
	if max := orNone(c.Max); c.Floor > max {
		panic(fmt.Sprintf("%s is %d: want no more than Max, which is %d", field("Floor"), c.Floor, max))
	}
}
