package arena

import (
	"fmt"
	"reflect"

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

	name   string
	self   *Arena // finds copies
	rare   *rare  // what few arenas have, or nil
	lanes  *lane  // all, the latest first
	listed *lane  // used since the last Reset or in the round before it, the latest first

	// What New reads. It lies apart from the cursors of lanes, which New writes to, where
	// small programs have both an Arena and lanes at the start of a page: a processor that
	// compares the low twelve bits of addresses only takes a read of the one for a read
	// of what was just written to the other, at the same offset, and New takes twice the
	// time.
	near  any    // *typed[T] of the lane that is asked for most, or nil
	table []any  // *typed[T] by type, see table.go; without length in a Pool
	mul   uint32 // the table's constant
	shift uint8  // 32 less the table's bits
	state state
	lent  bool // somebody has a Lane

	bytes    *typed[byte]
	most     *lane             // near's
	fresh    []typed[struct{}] // for the next lanes
	reserved int               // bytes in chunks, over all lanes
	high     int               // most bytes in use, up to the last Reset or Release
	resets   uint64
	epoch    uint32          // of the latest Reset: gccycle.Epoch
	due      track.Countdown // Resets to the next one that is watched
	chunks   int32           // that reserved is made of
	types    int32           // in table
	uses     int32           // lanes in listed

	slots [minTable]any   // the first table
	own   typed[struct{}] // the first lane, whatever its type
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
// An arena without settings takes 384 bytes, in which there is room for a table and one
// lane; chunks are added as they are needed. It panics if a setting is out of its range; see [Config].
func NewArena(conf ...Config) *Arena {
	c := configOf("NewArena", conf)
	a := newArena(c)
	a.setReuse(reuse.New(c.Reuse, c.Trials))
	if a.name != "" && leak.Sampled() {
		r := a.makeRare()
		r.watch = leak.NewWatch(a, "arena", a.name)
		r.made = r.watch.Site()
	}
	return a
}

func newArena(c Config) *Arena {
	a := &Arena{name: c.Name}
	a.self = a
	if c.Limit|c.Retain|c.FirstChunk|c.MaxChunk != 0 {
		a.rare = &rare{limit: c.Limit, retain: c.Retain, first: c.FirstChunk, max: c.MaxChunk}
	}
	return a
}

// New returns a pointer to a zero T in a, or on Go's heap if a is nil. It costs
// about two nanoseconds, for the type that the arena has most of a little less; a [Lane]
// costs less than one. It panics with a
// [*LimitError] if the arena's limit is reached, and after Free.
func New[T any](a *Arena) *T {
	if a == nil {
		return new(T)
	}
	if track.Watched {
		return newWatched(laneOf[T](a, "New"))
	}
	if l, ok := a.near.(*typed[T]); ok && l.i != l.lo {
		l.i--
		return &l.buf[l.i]
	}
	l := find[T](a)
	if l == nil {
		l = laneSlow[T](a, "New")
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
	a.lent = true
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
	if d := a.due.Due(keeps); (d != 0 || check.Enabled || !keeps) && a.uses > 0 {
		r = a.releasing(d, keeps)
	}
	used, most, epoch := 0, 0, gccycle.Epoch()
	at := &a.listed
	for i := 0; *at != nil; i++ {
		l := *at
		n, listed := l.rewind(r.Of(i), epoch)
		used += n * l.size
		if n > most {
			most, a.most = n, l
		}
		if listed {
			at = &l.nextListed
		} else {
			*at, l.nextListed = l.nextListed, nil
			a.uses--
		}
	}
	if most > 0 {
		a.near = a.most.front
	}
	a.high = max(a.high, used)
	a.endMarks()
	if !keeps {
		a.shed()
	}
	if epoch != a.epoch {
		a.epoch = epoch
		a.expire()
	}
	gccycle.CountSome(a.resets)
	if keep := a.retained(); a.reserved > keep {
		a.trim(keep)
	}
	r.End()
}

// keeps reports whether memory that is taken back now may be used again.
func (a *Arena) keeps() bool { return a == nil || a.rare == nil || a.rare.reuse.Keeps() }

func (a *Arena) setReuse(r *reuse.Record) {
	if r != a.seldom().reuse {
		a.makeRare().reuse = r
	}
}

// shed leaves all memory to the garbage collector that holds nothing.
func (a *Arena) shed() {
	if a.reserved == 0 {
		return
	}
	for l := a.lanes; l != nil; l = l.next {
		l.dropIdle()
	}
}

// expire takes the memory of lanes that were not in use since the last collection but
// one.
func (a *Arena) expire() {
	for l := a.lanes; l != nil; l = l.next {
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
	for l := a.lanes; l != nil; l = l.next {
		l.end()
	}
	if r := a.rare; r != nil {
		r.watch.Stop()
		r.dyn, r.frames, r.positions, r.callbacks = nil, nil, nil, nil
	}
	a.state = freed
	a.near, a.table, a.bytes, a.fresh = nil, nil, nil, nil
	a.lanes, a.listed, a.most = nil, nil, nil
	clear(a.slots[:])
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
	for l := a.lanes; l != nil; l = l.next {
		l.forget(keep)
	}
}

// trim drops idle chunks, the lane with most of them first.
func (a *Arena) trim(keep int) {
	for a.reserved > keep {
		var most *lane
		n := 0
		for l := a.lanes; l != nil; l = l.next {
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
	for l := a.listed; l != nil; l = l.nextListed {
		used += l.usedBytes()
	}
	a.high = max(a.high, used)
}
