package arena

import (
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/reuse"
	"github.com/haven-mem/haven/internal/track"
)

// An Arena is memory for values of any type that end together.
//
// The zero Arena is ready to use and a nil *Arena stands for Go's heap, so
// that code written for arenas also runs without one. An Arena is for one
// goroutine at a time and must not be copied after first use. What was
// allocated in it may be read by any goroutine.
//
// [Arena.Reset] takes all values back at once and hands their memory out again:
// a pointer that was kept reads another value of its type from then on.
// [Arena.Free], and simply dropping the Arena, take back nothing: what is still
// referred to stays, and the garbage collector does the rest.
type Arena struct {
	_    noCopy
	busy check.Only[check.Busy]

	name     string
	limit    int // 0: none
	retain   int // 0: the default; -1: nothing
	first    int // 0: the default
	max      int // 0: the default
	reserved int // bytes in chunks, over all lanes
	high     int // most bytes in use, up to the last Reset or Release

	// What New reads begins at byte 64 (on 64-bit machines). A Lane, which New writes to, has
	// the cursors in front, and small programs have both an Arena
	// and a Lane at the start of a page. A processor that compares the low
	// twelve bits of addresses only takes a read of the one for a read of what
	// was just written to the other, at the same offset, and New takes twice
	// the time.
	table []any  // *typed[T] by type, see table.go
	mul   uint32 // the table's constant
	shift uint8  // 32 less the table's bits
	state state

	listed []*lane // lanes used since the last Reset or in the round before it
	lanes  []*lane // all
	bytes  *typed[byte]
	dyn    map[reflect.Type]*dynamic // lanes of types known at run time only, not in table
	self   *Arena                    // finds copies
	resets uint64
	epoch  uint32 // of the latest Reset: gccycle.Epoch

	callbacks []func()
	calling   bool
	due       track.Countdown // Resets to the next one that is watched
	frames    []frame
	positions []position
	serial    uint64

	chunks int           // that reserved is made of
	payer  account.Payer // a memory context, or nil
	reuse  *reuse.Record // of its pool, or its own; nil: always
	watch  leak.Watch    // of the arenas that the leak finder samples
	made   *leak.Site    // where it was made, or the memory context that has it, if that was sampled
}

type state uint8

const (
	usable state = iota
	parked       // in a Pool
	freed
)

// noCopy makes go vet report copies of the structs that hold one.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// NewArena returns an arena with the settings of conf, of which there is one or none.
// An arena without memory takes less than 600 bytes; chunks are added as they are
// needed. It panics if a setting is out of its range; see [Config].
func NewArena(conf ...Config) *Arena {
	c := configOf("NewArena", conf)
	a := newArena(c)
	a.reuse = reuse.New(c.Reuse, c.Trials)
	if a.name != "" && leak.Sampled() {
		a.watch = leak.NewWatch(a, "arena", a.name)
		a.made = a.watch.Site()
	}
	return a
}

func newArena(c Config) *Arena {
	return &Arena{name: c.Name, limit: c.Limit, retain: c.Retain, first: c.FirstChunk, max: c.MaxChunk}
}

// New returns a pointer to a zero T in a, or on Go's heap if a is nil. It costs
// about two nanoseconds; a [Lane] costs less than one. It panics with a
// [*LimitError] if the arena's limit is reached, and after Free.
func New[T any](a *Arena) *T {
	if a == nil {
		return new(T)
	}
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "New")
	}
	if track.Watched {
		return newWatched(l)
	}
	i := l.i // read once
	if i == l.lo {
		l.c.grow("New")
		i = l.i
	}
	i--
	l.i = i
	return &l.buf[i]
}

// NewFrom returns a pointer to a T in a, or on Go's heap if a is nil, that
// holds v. It panics as [New] does.
func NewFrom[T any](a *Arena, v T) *T {
	p := New[T](a)
	*p = v
	return p
}

// MakeSlice returns a zero slice of the given length and capacity in elements,
// in a, or on Go's heap if a is nil. It panics if len is negative or above cap,
// if the slice is larger than the address space, and as [New] does.
func MakeSlice[T any](a *Arena, len, cap int) []T {
	if a == nil {
		checkLen("MakeSlice", reflect.TypeOf((*T)(nil)).Elem(), len, cap)
		return make([]T, len, cap)
	}
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "MakeSlice")
	}
	if fits(l.i-l.lo, len, cap) {
		l.lo += cap
		return l.buf[l.lo-cap : l.lo-cap+len : l.lo]
	}
	return makeSlow(l, len, cap)
}

// TryNew is [New], but returns the [*LimitError], which Is [ErrLimit], with
// which New panics. The arena stays usable.
func TryNew[T any](a *Arena) (*T, error) {
	if a == nil {
		return new(T), nil
	}
	l := laneOf[T](a, "TryNew")
	if l.i == l.lo {
		if err := l.c.more("TryNew", 1); err != nil {
			return nil, err
		}
	}
	return newWatched(l), nil
}

// TryMakeSlice is [MakeSlice], but returns the [*LimitError] with which
// MakeSlice panics. It panics for the same lengths.
func TryMakeSlice[T any](a *Arena, len, cap int) ([]T, error) {
	if a == nil {
		return MakeSlice[T](a, len, cap), nil
	}
	l := laneOf[T](a, "TryMakeSlice")
	own, at, err := l.c.take("TryMakeSlice", len, cap)
	if err != nil {
		return nil, err
	}
	return chunkOf(l, own)[at : at+len : at+cap], nil
}

// LaneOf returns a's lane of T, for loops in which even the look-up of [New]
// counts. The lane stays a's for all of its life, over every Reset. For a nil
// arena it returns a new Lane that takes each value from Go's heap. It panics
// after Free.
func LaneOf[T any](a *Arena) *Lane[T] {
	if a == nil {
		l := new(Lane[T])
		l.ready().c.heap = true
		return l
	}
	a.checkUsable("LaneOf")
	return (*Lane[T])(laneOf[T](a, "LaneOf"))
}

// Reset takes back everything allocated in a and keeps the memory for what
// comes next. It runs the callbacks of [Arena.OnReset] first, ends all open
// Marks, and clears what was used: its cost is what was used, not what is
// reserved. A lane that took several chunks goes on with one of the size that
// was needed. What was not needed since the last garbage collection but one is
// forgotten, and what is kept is at most Config.Retain, or nothing as Config.Reuse says. Once in a while Reset does not
// keep the memory of one type, to find pointers into it: see VerifyNoStale of package
// check. On a nil or unused arena Reset does nothing. It panics after Free.
func (a *Arena) Reset() {
	if a == nil {
		return
	}
	a.checkUsable("Reset")
	a.runCallbacks(0, "Reset")
	a.resets++
	var r *track.Release
	keeps := a.keeps()
	if d := a.due.Due(keeps); (d != 0 || check.Enabled || !keeps) && len(a.listed) > 0 {
		r = a.releasing(d, keeps)
	}
	used, kept := 0, 0
	for i, l := range a.listed {
		n, listed := l.rewind(r.Of(i))
		used += n
		if listed {
			if kept != i {
				a.listed[kept] = l
			}
			kept++
		}
	}
	a.high = max(a.high, used)
	clear(a.listed[kept:])
	a.listed = a.listed[:kept]
	a.frames, a.positions = a.frames[:0], a.positions[:0]
	if !keeps {
		a.shed()
	}
	if e := gccycle.Epoch(); e != a.epoch {
		a.epoch = e
		a.expire()
	}
	gccycle.CountSome(a.resets)
	if keep := a.retained(); a.reserved > keep {
		a.trim(keep)
	}
	r.End()
}

// keeps reports whether memory that is taken back now may be used again.
func (a *Arena) keeps() bool { return a == nil || a.reuse.Keeps() }

// shed leaves all memory to the garbage collector that holds nothing.
func (a *Arena) shed() {
	if a.reserved == 0 {
		return
	}
	for _, l := range a.lanes {
		l.dropIdle()
	}
}

// expire takes the memory of lanes that were not in use since the last collection but
// one.
func (a *Arena) expire() {
	for _, l := range a.lanes {
		if !l.active && !l.listed && l.peak.Idle(a.epoch) >= 2 {
			l.dropIdle()
			l.forget(0)
		}
	}
}

// Free ends the arena: it runs the callbacks of [Arena.OnReset] and lets go of
// all memory. Nothing is reused: what is still referred to stays as it is, and
// the garbage collector takes the rest. Using the arena or one of its lanes
// after Free panics, and so does a second Free. Free of a memory context's
// arena panics, too: the context ends it. On a nil arena Free does nothing.
func (a *Arena) Free() {
	if a == nil {
		return
	}
	a.checkUsable("Free")
	a.checkUnowned("Free")
	a.runCallbacks(0, "Free")
	a.noteHighWater()
	for _, l := range a.lanes {
		l.end()
	}
	a.watch.Stop()
	a.state = freed
	a.table, a.listed, a.lanes, a.bytes, a.dyn = nil, nil, nil, nil, nil
	a.frames, a.positions, a.callbacks = nil, nil, nil
}

// Trim lets go of memory that holds nothing until at most keep bytes are
// reserved, or nothing is left that could go, and forgets peaks above that. It
// never touches what is in use. It panics if keep is negative, and after Free. On a nil arena it does nothing.
func (a *Arena) Trim(keep int) {
	if keep < 0 {
		panic(fmt.Sprintf("arena: Trim(%d) of %s: want a number of bytes, 0 or more", keep, a.title()))
	}
	if a == nil {
		return
	}
	a.checkUsable("Trim")
	a.trim(keep)
	for _, l := range a.lanes {
		l.forget(keep)
	}
}

// trim drops idle chunks, the lane with most of them first.
func (a *Arena) trim(keep int) {
	for a.reserved > keep {
		var most *lane
		n := 0
		for _, l := range a.lanes {
			if b := l.idleBytes(); b > n {
				most, n = l, b
			}
		}
		if most == nil {
			return
		}
		most.dropIdle()
		most.forget(keep)
	}
}

// OnReset registers f to run once, at the next Reset, Free, or Release of a
// Mark made before it; the last one registered runs first, while everything
// allocated is still intact. If one panics the others still run, and the panic
// goes on. f may allocate in a; that goes with the rest. It must not Reset,
// Release or Free a. A callback that f registers runs in the same round. On a
// nil arena, which is never reset, f is dropped. OnReset panics if f is nil,
// and after Free.
func (a *Arena) OnReset(f func()) {
	if f == nil {
		panic("arena: OnReset(nil) of " + a.title())
	}
	if a == nil {
		return
	}
	a.checkUsable("OnReset")
	a.callbacks = append(a.callbacks, f)
}

// runCallbacks runs those registered after the first n, last in first out. Each
// is taken off before it runs, so that the rest can be run from a deferred call
// when one panics.
func (a *Arena) runCallbacks(n int, op string) {
	if a.calling {
		panic("arena: " + op + " inside an OnReset callback of " + a.title())
	}
	if len(a.callbacks) <= n {
		return
	}
	a.calling = true
	defer func() {
		a.calling = false
		if len(a.callbacks) > n { // one panicked
			a.runCallbacks(n, op)
		}
	}()
	for len(a.callbacks) > n {
		k := len(a.callbacks) - 1
		f := a.callbacks[k]
		a.callbacks[k] = nil
		a.callbacks = a.callbacks[:k]
		f()
	}
}

// checkUsable panics if the arena was freed, lies in a Pool or is a copy.
func (a *Arena) checkUsable(op string) {
	if !a.isUsable() {
		a.unusable(op)
	}
}

func (a *Arena) isUsable() bool { return a.self == a && a.state == usable }

//go:noinline
func (a *Arena) unusable(op string) {
	switch {
	case a.self == nil:
		a.self = a
	case a.self != a:
		panic(fmt.Sprintf("arena: %s on a copy of %s: pass a *Arena", op, a.title()))
	case a.state == parked:
		panic(fmt.Sprintf("arena: %s on %s after Put into its Pool", op, a.title()))
	default:
		panic(fmt.Sprintf("arena: %s after Free of %s", op, a.title()))
	}
}

// title names the arena in messages.
func (a *Arena) title() string {
	if a == nil {
		return "the nil arena"
	}
	return titleOf(a.name)
}

// titleOf names an arena of the given name in messages.
func titleOf(name string) string {
	if name == "" {
		return "an arena without a name"
	}
	return fmt.Sprintf("arena %q", name)
}

// noteHighWater records what is in use, before it becomes less.
func (a *Arena) noteHighWater() {
	used := 0
	for _, l := range a.listed {
		used += l.usedBytes()
	}
	a.high = max(a.high, used)
}
