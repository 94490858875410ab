package arena

import (
	"fmt"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/reuse"
)

// A Pool keeps warm arenas for work that repeats: a request, a document, a
// query. The same call site allocates the same mix of types, so an arena that
// comes back has the chunks the next user needs, and a steady program allocates
// nothing.
//
// The zero Pool is ready; make one with [NewPool] for settings that
// hold for each of its arenas. A Pool may be used by any number of goroutines
// and must not be copied after first use.
//
// It keeps as many idle arenas as were lately in use at one time, and a few for each P,
// at most [MaxIdle], each of at most its Retain bytes. Arenas that no Get asked for
// between two garbage collections are let go, half of them at each, but for a
// floor of one for each P. Arenas in use are not touched.
type Pool struct {
	_    noCopy
	conf Config

	reuse *reuse.Record
	idle  magazine.Stack[Arena]
}

// MaxIdle is the most arenas that a [Pool] keeps idle.
const MaxIdle = 1024

// PoolStats describes a pool. Its numbers add up:
//
//	Gets = Hits + Misses and Puts = Dropped + Trimmed + Idle + Hits
type PoolStats struct {
	Idle     int    // arenas that wait
	Reserved int    // bytes in their chunks
	Gets     uint64 // calls
	Hits     uint64 // Gets that found a warm arena
	Misses   uint64 // Gets that made a new one
	Puts     uint64 // calls
	Dropped  uint64 // arenas that Put left to the garbage collector
	Trimmed  uint64 // idle arenas let go after a garbage collection
	Reuse    ReuseState
}

// NewPool returns a pool whose arenas have the settings of conf, of which there is one
// or none. It panics if a setting is out of its range; see [Config].
func NewPool(conf ...Config) *Pool {
	c := configOf("NewPool", conf)
	return &Pool{conf: c, reuse: reuse.New(c.Reuse, c.Trials)}
}

// Get returns an empty arena, warm if there is one: as a rule one of a few that the P
// has for itself, without a lock. A nil Pool returns nil, the arena that stands for Go's
// heap.
func (p *Pool) Get() *Arena {
	if p == nil {
		return nil
	}
	a := p.idle.Get()
	if a == nil {
		a = newArena(p.conf)
		a.setReuse(p.reuse)
		return a
	}
	a.unpark()
	if !p.reuse.Keeps() { // but did when a was put
		a.shed()
	}
	return a
}

// Put gives a away: it resets a and keeps it for a later Get. Values allocated in a
// must not be used afterwards, as after [Arena.Reset]; using a panics until a Get
// returns it. From then on a is its new owner's, and a second Put by the old one is
// not recognised. An arena that panics must not be Put: leave it, or Free it, and
// the garbage collector takes it. One that did not come from p is kept as well,
// with the settings that it was made with but for Reuse, which is the pool's.
//
// Put of a nil arena does nothing, as does Put into a nil Pool, which leaves a to
// the garbage collector. Put panics if a was freed, lies in a Pool, or belongs to a
// memory context, which gives it away itself.
func (p *Pool) Put(a *Arena) {
	if p == nil || a == nil {
		return
	}
	a.checkUsable("Pool.Put")
	a.checkUnowned("Pool.Put")
	a.setReuse(p.reuse)
	a.Reset()
	a.park()
	p.idle.Put(a, a.reserved)
}

// Stats returns the pool's numbers. While others use the pool they may be a few calls
// behind.
func (p *Pool) Stats() PoolStats {
	if p == nil {
		return PoolStats{}
	}
	s := p.idle.Stats()
	return PoolStats{
		Idle: int(s.Idle), Reserved: int(s.Bytes), Gets: s.Gets, Hits: s.Hits, Misses: s.Misses,
		Puts: s.Puts, Dropped: s.Dropped, Trimmed: s.Trimmed, Reuse: p.reuse.State(),
	}
}

// String returns the numbers in one line.
func (s PoolStats) String() string {
	text := fmt.Sprintf("%s with %s, %s (%s, %s), %s (%d dropped), %d trimmed",
		account.Count(s.Idle, "idle arena"), account.Count(s.Reserved, "byte"), account.Count(s.Gets, "get"), account.Count(s.Hits, "hit"),
		account.Count(s.Misses, "miss"), account.Count(s.Puts, "put"), s.Dropped, s.Trimmed)
	if s.Reuse.Mode != Always {
		text += ", " + s.Reuse.String()
	}
	return text
}
