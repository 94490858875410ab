package track

import (
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/stale"
)

// Why the fast paths of an owner have more to do than they do, in a word that they read.
const (
	HookOut     = 1 << iota // an object is to be chosen
	HookBack                // one that was chosen is in use
	HookOptions             // what the owner's settings ask for
)

// A sampler chooses a few of the objects that an owner hands out, to be watched until
// they come back.
//
// Fast paths do not count, and have no part in the choice. From time to time the owner is
// asked how many objects it handed out, and its way out is hooked for those that are drawn
// of so many; and its way back as long as one of them is in use.
type sampler struct {
	mu    sync.Mutex
	hooks *atomic.Uint32 // nil: the owner is not ready
	each  func() bool    // whether all are chosen
	most  int            // of those, in use at a time
	want  int            // objects to be chosen
	out   int            // chosen and in use
	off   bool           // none can be
	asked uint64         // operations when it was asked last
	self  *sampled
}

// A sampled stands for a sampler in weak pointers, which must not refer to a global
// variable (GC.md fact 15).
type sampled struct {
	s   *sampler
	ops func() uint64 // which a tick of the guard's clock asks; or nil
}

// samplers are those of all owners in use.
var samplers registry.List[sampled]

func init() {
	refresh := func() {
		for x := range samplers.All() {
			x.s.mu.Lock()
			x.s.hook()
			x.s.mu.Unlock()
		}
	}
	stale.OnAll(refresh)
	guard.Watch(func() {
		for x := range samplers.All() {
			if x.ops != nil {
				x.s.draw(x.ops(), func(n uint64) int { return guard.Draw(n / 2) })
			}
		}
	}, refresh)
}

// ready has the fast paths of an owner hooked, whose hooks are in a word.
func (s *sampler) ready(hooks *atomic.Uint32, each func() bool, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooks, s.each, s.most = hooks, each, most
	s.hook()
}

// enlist has the sampler told of rates that change, and at ticks if there are ops.
func (s *sampler) enlist(ops func() uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.self = &sampled{s, ops}
	samplers.Add(s.self)
	s.hook()
}

// draw has as many objects chosen as are drawn of the operations since the last time.
func (s *sampler) draw(ops uint64, draw func(n uint64) int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := draw(ops - s.asked)
	s.asked = ops
	if n > 0 {
		s.want = n
	}
	s.hook()
}

// take reports whether the caller is to choose an object.
func (s *sampler) take() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := s.hooks != nil && s.wants()
	s.want = max(0, s.want-1)
	if ok {
		s.out++
	}
	s.hook()
	return ok
}

// wants and hook are called with the lock held.

func (s *sampler) wants() bool { return s.want > 0 || !s.off && s.out < s.most && s.each() }

// hook sets whether fast paths are left out.
func (s *sampler) hook() {
	if s.hooks == nil {
		return
	}
	set(s.hooks, HookOut, s.wants())
	set(s.hooks, HookBack, s.out > 0)
}

// set sets a bit, in a word that is not to be written to for nothing.
func set(word *atomic.Uint32, bit uint32, on bool) {
	switch {
	case on == (word.Load()&bit != 0):
	case on:
		word.Or(bit)
	default:
		word.And(^bit)
	}
}

// back counts one less that is in use.
func (s *sampler) back() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.out--
	s.hook()
}
