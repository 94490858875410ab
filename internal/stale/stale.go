// Package stale finds pointers that outlive what they point to: pointers into
// memory that its owner has released, and would hand out again.
//
// # How
//
// Of one release in 1024 the memory is not used again. Its owner leaves it
// to the garbage collector, as if it were too large to be kept, and hands this
// package a weak pointer to each piece of it. A weak pointer does not hold on to
// an object, and an interior pointer holds on to the whole of it (GC.md facts 1,
// 15 and 21). So what is alive some collections later is referred to by somebody
// who should not: from a global variable, a map, a channel, a closure, a
// goroutine, wherever the collector looks. Nobody has to use the pointer for it to
// be found, and nothing has to be done to the memory.
//
// It is the collector's word, so there is no guessing in it. What is owned by
// nobody may still be on the stack of a function that has not returned: so one
// collection more has to pass.
//
// # What it costs
//
// A release that is not watched costs the decrement of a countdown (package track). One that is
// takes down the stack, as program counters, and makes its owner allocate anew, of
// which [Affords] bounds the bytes.
//
// # What owners must see to
//
// The pieces must not refer to each other or to themselves through others, or one
// that is referred to would hold all: owners clear them, as they do in a release
// that keeps them. And each piece must be an object of Go's heap of its own, of
// which nobody else has a part.
package stale

import (
	"runtime"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/clock"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/leak"
)

// A Release is memory that was released at one time by one owner. Make one with
// [Begin], add the memory, and end with [Release.Watch].
type Release struct {
	what, name string
	at         clock.Time
	site       *leak.Site // of the release
	released   check.Site // instead of site, or 0
	made       *leak.Site // of the owner, or nil
	pieces     []piece
	serial     uint64
	cycles     int // calls of step since Watch
	ask        func() (judged func(alive bool))
	judged     func(alive bool)
}

// A piece is an object of Go's heap.
type piece struct {
	typ   string
	bytes int
	at    weak.Pointer[byte]
}

// Begin returns a release by the goroutine that calls it, whose stack it takes
// down. made is where the owner was made, or nil. It costs about a microsecond.
func Begin(what, name string, made *leak.Site) *Release {
	return &Release{what: what, name: name, at: clock.Now(), site: leak.Here(what, name), made: made}
}

// BeginAt is [Begin] for a release of so many pieces that happened before, at a site
// that is known to the check build. It costs a fraction.
func BeginAt(site check.Site, at clock.Time, what, name string, made *leak.Site, pieces int) *Release {
	return &Release{what: what, name: name, at: at, released: site, made: made, pieces: make([]piece, 0, pieces)}
}

// Judge has ask called once the release is watched, and what that returns, if it is not
// nil, when it is known whether anything is alive. It is called before Watch.
func (r *Release) Judge(ask func() (judged func(alive bool))) { r.ask = ask }

// stack returns the stack of the release.
func (r *Release) stack() string {
	if r.released != 0 {
		return r.released.String()
	}
	return r.site.Stack()
}

// Least is the size in bytes of the smallest object that is watched: one without
// pointers that is smaller may share its block with others (GC.md fact 16).
const Least = 16

// Add adds an object of Go's heap that begins at p, of so many bytes that hold
// values of the type. What is smaller than [Least] is left out.
func (r *Release) Add(typ string, p *byte, bytes int) {
	if bytes >= Least {
		r.pieces = append(r.pieces, piece{typ, bytes, weak.Make(p)})
	}
}

// maxPending bounds the releases that wait for collections. What comes on top
// is not watched: in a program that never collects it would be a leak itself.
const maxPending = 1 << 16

var pending pendingReleases

type pendingReleases struct {
	mu     sync.Mutex
	list   []*Release
	serial uint64
	self   *self

	recent []finding // those that were found last, for Since
	counts map[owner]uint64
}

// An owner is all of one kind and name.
type owner struct{ what, name string }

// A finding is what was alive of one type in one release.
type finding struct {
	leak.Finding
	serial uint64 // of the release
}

// maxRecent bounds what Since returns.
const maxRecent = 1024

// A self stands for this package with gccycle, which must not be given a global
// variable (GC.md fact 15).
type self struct{ _ *byte }

// Watch has what was added looked after, whose owner has let go of it. Without any,
// and for nil, it does nothing.
func (r *Release) Watch() {
	if r == nil || len(r.pieces) == 0 {
		return
	}
	r.watch()
}

func (r *Release) watch() {
	p := &pending
	p.mu.Lock()
	start := p.self == nil
	if start {
		p.self = new(self)
	}
	p.serial++
	r.serial = p.serial
	if len(p.list) < maxPending {
		p.list = append(p.list, r)
		if r.ask != nil {
			r.judged = r.ask()
		}
	}
	p.mu.Unlock()
	if start {
		gccycle.Watch(p.self, func(*self, gccycle.Pressure) { step() })
	}
	gccycle.Check()
}

// enough is how many calls of step come before a release is looked at. The first
// may report a collection that began before; each of the others one that began
// after the call before. So two whole collections have passed.
const enough = 3

// step is called after each garbage collection.
//
// It looks at a release once, at the end: to ask a weak pointer while the next
// collection marks keeps the object alive.
func step() { settle(func(r *Release) bool { r.cycles++; return r.cycles >= enough }) }

// settle ends the wait of those for which over reports true, and reports what is
// alive of them.
func settle(over func(*Release) bool) {
	p := &pending
	p.mu.Lock()
	var found []finding
	var verdicts []func()
	kept := p.list[:0]
	for _, r := range p.list {
		if over(r) {
			n := len(found)
			found = r.alive(found)
			if alive := len(found) > n; r.judged != nil {
				verdicts = append(verdicts, func() { r.judged(alive) })
			}
		} else {
			kept = append(kept, r)
		}
	}
	clear(p.list[len(kept):])
	if p.list = kept; len(kept) == 0 {
		p.list = nil
	}
	p.recent = append(p.recent, found...)
	if n := len(p.recent) - maxRecent; n > 0 {
		p.recent = append([]finding(nil), p.recent[n:]...)
	}
	for _, e := range found {
		leak.Add(e.Finding)
		p.count(owner{e.What, e.Name})
	}
	p.mu.Unlock()
	for _, tell := range verdicts {
		tell()
	}
	if f := told.Load(); f != nil {
		for _, e := range found {
			(*f)(e.Finding)
		}
	}
}

// maxCounts bounds the names that Count knows.
const maxCounts = 1 << 16

// count counts a finding. The lock is held.
func (p *pendingReleases) count(o owner) {
	if p.counts == nil {
		p.counts = make(map[owner]uint64)
	}
	if _, ok := p.counts[o]; ok || len(p.counts) < maxCounts {
		p.counts[o]++
	}
}

// Count returns how often something was found that all of one kind and name had
// released: of each type, once for a release. What has no name is not told apart
// and has none.
func Count(what, name string) uint64 {
	if name == "" {
		return 0
	}
	pending.mu.Lock()
	defer pending.mu.Unlock()
	return pending.counts[owner{what, name}]
}

// alive appends what is alive to list, by type.
func (r *Release) alive(list []finding) []finding {
	first := len(list)
next:
	for _, p := range r.pieces {
		if p.at.Value() == nil {
			continue
		}
		for i := first; i < len(list); i++ {
			if e := &list[i]; e.Type == p.typ {
				e.Chunks++
				e.Bytes += p.bytes
				continue next
			}
		}
		list = append(list, finding{leak.Finding{
			Kind: leak.Stale, What: r.what, Name: r.name, Count: 1, Bytes: p.bytes, Age: r.at.Age(),
			Stack: r.made.Stack(), Type: p.typ, Chunks: 1, Released: r.stack(),
		}, r.serial})
	}
	return list
}

// told is called with each stale pointer.
var told atomic.Pointer[func(leak.Finding)]

// Tell has f called with each stale pointer from now on; nil: nobody.
func Tell(f func(leak.Finding)) {
	if f == nil {
		told.Store(nil)
		return
	}
	told.Store(&f)
}

// Now returns the number of the latest release that is watched.
func Now() uint64 {
	check.Flush()
	pending.mu.Lock()
	defer pending.mu.Unlock()
	return pending.serial
}

// Since returns the stale pointers of releases after the one with that number, at most
// the 1024 that were found last, and the number of the latest release that it has
// seen to. It collects garbage twice if a release waits.
func Since(serial uint64) (list []leak.Finding, last uint64) {
	check.Flush() // what waits there is not watched yet
	p := &pending
	p.mu.Lock()
	last = p.serial
	waits := len(p.list) > 0
	p.mu.Unlock()
	if waits {
		runtime.GC()
		runtime.GC()
		settle(func(r *Release) bool { return r.serial <= last })
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.recent {
		if e.serial > serial && e.serial <= last {
			list = append(list, e.Finding)
		}
	}
	return list, last
}
