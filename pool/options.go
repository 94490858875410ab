package pool

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// An Option sets a property of what [New], [NewBytes] or [NewLocal] makes. Each
// of the three panics if it is given an option that it does not take.
type Option struct {
	name  string
	apply func(*config)
}

// A config is what the options say.
type config struct {
	name     string
	max      int // or none, as is maxBytes
	maxBytes int
	floor    int
	idle     time.Duration
	reset    any // func(*T)
	cost     any // func(*T) int
	dirty    bool

	callReset func(unsafe.Pointer)     // reset and cost, as the common part of pools calls
	callCost  func(unsafe.Pointer) int // them

	given []string // the names of the options
}

// none is a bound that is none.
const none = math.MaxInt

// configOf reads the options of a constructor, which takes those that are named.
func configOf(constructor, takes string, opts []Option) config {
	c := config{max: none, maxBytes: none}
	for _, o := range opts {
		if o.apply == nil { // a zero Option
			continue
		}
		if !slices.Contains(strings.Fields(takes), o.name) {
			panic(fmt.Sprintf("pool: %s does not take the option %s, only %s", constructor, o.name, strings.Join(strings.Fields(takes), ", ")))
		}
		o.apply(&c)
		c.given = append(c.given, o.name)
	}
	return c
}

// has reports whether an option was given.
func (c *config) has(option string) bool { return slices.Contains(c.given, option) }

// Name sets the name that panics and statistics show. What has a name is listed
// by [Pools], but for a [Local].
func Name(name string) Option {
	return Option{"Name", func(c *config) { c.name = name }}
}

// Max bounds how many objects, or buffers, lie idle; 0 means no bound, which is
// the default but for a [Local], of which it is 64. A Put that comes on
// top drops its object. The bound is strict, since the magazines of the Ps count
// as if they were full: at most half of the bound goes to them, and where that
// leaves no P an object, there are no magazines, and each operation takes the
// lock. Max panics if the number is negative.
func Max(objects int) Option {
	if objects < 0 {
		panic(fmt.Sprintf("pool: Max(%d): want a number of objects, 0 (none) or more", objects))
	}
	return Option{"Max", func(c *config) { c.max = orNone(objects) }}
}

// MaxBytes bounds how many bytes lie idle; 0 means no bound, which is the default
// of a [Pool]. That of a [Bytes] is 64 MiB. Without [Cost], an object of a Pool
// counts as the size of its type. A Put that comes on top drops its object. The
// bound is strict, as [Max] is. MaxBytes panics if the number is negative.
func MaxBytes(bytes int) Option {
	if bytes < 0 {
		panic(fmt.Sprintf("pool: MaxBytes(%d): want a number of bytes, 0 (none) or more", bytes))
	}
	return Option{"MaxBytes", func(c *config) { c.maxBytes = orNone(bytes) }}
}

func orNone(n int) int {
	if n == 0 {
		return none
	}
	return n
}

// Cost sets the function that says how many bytes an object counts as, its type's
// own size and all that is behind its pointers, for [MaxBytes] and for
// [Stats.Bytes]. It is called once for each Put, after [Reset], by the goroutine
// that puts, with no lock held. An object that costs more than a magazine takes, a
// quarter of MaxBytes divided by GOMAXPROCS, goes to the depot by itself; one for
// which there is no room is dropped. If f does not return, the object is dropped;
// if it returns a negative number, Put panics. A nil f means
// none. New panics if f takes another type than the pool's.
func Cost[T any](f func(*T) int) Option {
	// SAFETY: GC.md fact 24; mustTake makes sure that it gets a *T.
	call := *(*func(unsafe.Pointer) int)(unsafe.Pointer(&f))
	return Option{"Cost", func(c *config) { c.cost, c.callCost = f, call }}
}

// Floor sets how many idle objects, or buffers, trimming leaves; the default is
// 0. It keeps what is there, and makes none. Of the buffers of a [Bytes] the
// smallest are left. Floor panics if the number is negative, and New if it is
// above [Max].
func Floor(objects int) Option {
	if objects < 0 {
		panic(fmt.Sprintf("pool: Floor(%d): want a number of objects, 0 or more", objects))
	}
	return Option{"Floor", func(c *config) { c.floor = objects }}
}

// Idle sets after what time objects that nobody asked for are trimmed: half of
// them after half of it, half of the rest after another half, and so on. A timer
// runs as long as there is something to trim; it is at rest while the pool is
// not used, and goes with it. Without Idle, and for 0, garbage collections set
// the pace. Idle panics if d is negative; less than 2 ms are taken as 2 ms. In a
// bubble of testing/synctest it is real time, too, that counts, from the next
// garbage collection on.
func Idle(d time.Duration) Option {
	if d < 0 {
		panic(fmt.Sprintf("pool: Idle(%v): want a duration, 0 (none) or more", d))
	}
	return Option{"Idle", func(c *config) { c.idle = d }}
}

// Reset sets the function that Put calls with the object, to make it ready for
// its next user: it should drop what the object refers to and may keep what is
// costly to make again. What it leaves, the next user sees. It is called by the
// goroutine that puts, with no lock held. If it does not return, the object is
// not put, and stays counted as in use. A nil f means none. New and NewLocal panic if f takes another type than
// the pool's.
func Reset[T any](f func(*T)) Option {
	// SAFETY: GC.md fact 24; mustTake makes sure that it gets a *T.
	call := *(*func(unsafe.Pointer))(unsafe.Pointer(&f))
	return Option{"Reset", func(c *config) { c.reset, c.callReset = f, call }}
}

// Dirty makes a [Bytes] hand out buffers as they were put, with what their last
// user left in them. Putting one then costs the same whatever its size. It is for
// programs in which each user of a buffer writes all that anybody will read of it;
// where one does not, a request sees the bytes of another, passwords included. (The
// check build hands out poison.)
func Dirty() Option {
	return Option{"Dirty", func(c *config) { c.dirty = true }}
}

// mustTake panics unless Reset and Cost were given functions that take a ptr.
func (c *config) mustTake(ptr reflect.Type, title string) {
	for _, o := range [...]struct {
		name, result string
		f            any
	}{{"Reset", "", c.reset}, {"Cost", " int", c.cost}} {
		if o.f != nil && reflect.TypeOf(o.f).In(0) != ptr {
			panic(fmt.Sprintf("pool: %s with a %T for %s: want a func(%v)%s", o.name, o.f, title, ptr, o.result))
		}
	}
}

// titleOf returns a kind and a name as messages show them.
func titleOf(kind, name string) string {
	if name == "" {
		return "a " + kind + " without a name"
	}
	return fmt.Sprintf("%s %q", kind, name)
}
