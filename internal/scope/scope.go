// Package scope is how a memory context travels in a context.Context, and how
// those who open one for a piece of work, a request, learn at its end whether
// somebody may still be at it.
//
// The code of a request gets the request's context.Context, or one derived from
// it. One that is derived with a deadline is a sign: who sets it may leave when the
// time is up, while the code below goes on. http.TimeoutHandler does so. A Scope
// therefore remembers through which contexts it was asked for what it carries, and
// says at the end if the time of one of them ran out, or if one cannot be
// cancelled at all, which is how work is made to outlive its request.
package scope

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// Key is the key under which a context.Context has either a memory context or a
// Scope with one.
type Key struct{}

// A Scope is a context.Context that carries a T until it is closed. Set Context
// and call Carry before use; it must not be copied. T is *memctx.Context, which
// this package does not import so that memctx can import it.
type Scope[T any] struct {
	context.Context

	carried T
	done    <-chan struct{} // of Context
	asked   atomic.Bool
	closed  atomic.Bool // written with mu held

	// Contexts with another Done than Context that asked; nil once closed. Whoever
	// finds its own in the list knows that Close sees it as well.
	seen atomic.Pointer[sighting]

	mu    sync.Mutex
	count int32 // of sightings
	room  int32 // count at which those that are over are dropped
	late  bool  // a sighting that was dropped told enough
}

// A sighting is a context that was asked. The list it is in does not change.
type sighting struct {
	ctx  context.Context
	done <-chan struct{}
	next *sighting
}

// Carry begins the scope, and returns where to put what it carries.
func (s *Scope[T]) Carry() *T {
	s.done = s.Done()
	return &s.carried
}

// Carried returns where what s carries is, also after Close.
func (s *Scope[T]) Carried() *T { return &s.carried }

// Value implements context.Context.
func (s *Scope[T]) Value(key any) any {
	if key == (Key{}) {
		return s
	}
	return s.Context.Value(key)
}

// For returns what s carries to the code that has ctx, which is s or derived from
// it, and the zero T once s is closed. It may be called from any goroutine.
func (s *Scope[T]) For(ctx context.Context) (v T) {
	if !s.asked.Load() { // which spares the processors a shared write
		s.asked.Store(true)
	}
	done := ctx.Done()
	if done == s.done {
		if s.closed.Load() {
			return v
		}
		return s.carried
	}
	return s.sight(ctx, done)
}

// Asked reports whether For was ever called: if not, nobody can have what s carries.
func (s *Scope[T]) Asked() bool { return s.asked.Load() }

// sight is For of a context that ends at another time than s.
func (s *Scope[T]) sight(ctx context.Context, done <-chan struct{}) (v T) {
	for x := s.seen.Load(); x != nil; x = x.next {
		if x.done == done {
			return s.carried
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return v
	}
	if s.count >= s.room {
		s.prune()
	}
	s.seen.Store(&sighting{ctx, done, s.seen.Load()})
	s.count++
	return s.carried
}

// prune drops the sightings that can tell nothing new, so that a request that
// derives contexts in a loop keeps those alone that are in use. s.mu is held.
func (s *Scope[T]) prune() {
	var live *sighting
	n := int32(0)
	for x := s.seen.Load(); x != nil; x = x.next {
		if x.outlives() {
			s.late = true
		} else if x.ctx.Err() == nil {
			live = &sighting{x.ctx, x.done, live}
			n++
		}
	}
	s.seen.Store(live)
	s.count, s.room = n, max(8, 2*n)
}

// outlives reports whether the code with this context may go on after whoever
// made the context has returned.
func (x *sighting) outlives() bool {
	return x.done == nil || errors.Is(x.ctx.Err(), context.DeadlineExceeded)
}

// Close ends the scope: from now on For returns the zero T. It reports whether somebody
// who was given what s carries may still use it, as far as that shows.
func (s *Scope[T]) Close() (late bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	late = s.late
	for x := s.seen.Swap(nil); x != nil && !late; x = x.next {
		late = x.outlives()
	}
	return late
}
