package memctx

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/stale"
)

// A kind is what contexts of one name share: counters, and the warm arenas, since
// what does the same work allocates the same mix of types.
type kind struct {
	name string
	pool *arena.Pool

	nodes nodes

	dropped                *atomic.Uint64
	abandoned, limitErrors atomic.Uint64

	peak atomic.Int64 // most bytes of one context that has ended
}

// maxKinds bounds the names that are told apart. A program that makes up names as
// it runs should use Config.Ident; if it does not, the names beyond share one kind.
const maxKinds = 4096

const otherNames = "(other names)"

var kinds struct {
	by sync.Map // string to *kind
	mu sync.Mutex
	n  int
}

// kindOf returns the kind of a name. Contexts are made over and over below the
// same parent, so c keeps the one that it was last asked for.
func (c *node) kindOf(name string) *kind {
	if c != nil {
		if k := c.lastKind.Load(); k != nil && k.name == name {
			return k
		}
	}
	k := kindFor(name)
	if c != nil {
		c.lastKind.Store(k)
	}
	return k
}

func kindFor(name string) *kind {
	if k, ok := kinds.by.Load(name); ok {
		return k.(*kind)
	}
	kinds.mu.Lock()
	defer kinds.mu.Unlock()
	if kinds.n >= maxKinds {
		name = otherNames
	}
	if k, ok := kinds.by.Load(name); ok {
		return k.(*kind)
	}
	name = strings.Clone(name) // which may be part of something large, or lie in an arena
	k := &kind{name: name, pool: arena.NewPool(arena.Config{Name: name}), dropped: new(atomic.Uint64)}
	gccycle.Watch(k, func(k *kind, _ gccycle.Pressure) { k.nodes.trim() })
	kinds.by.Store(name, k)
	kinds.n++
	return k
}

// Name returns the context's name, or "" for a nil Context.
func (mc *Context) Name() string {
	c := mc.ref()
	if c.node == nil {
		return ""
	}
	return c.kind.name
}

// Ident returns what Config.Ident gave, or "". For a deleted context it is "" once its
// place is another's.
func (mc *Context) Ident() string {
	c := mc.ref()
	ident, _ := c.look()
	return ident
}

// Paths longer than this show where they begin and end.
const (
	pathHead = 8
	pathTail = 24
)

// Path returns the names from the root to the context, like
// server/conn[17]/request. Of a path of more than 32 names the middle is left
// out. The path of a nil Context is "(no context)". For a deleted context it is the one
// it had, until its place, or one above, is another's: then it has the names below that. It
// costs a step for each context above, and allocates.
func (mc *Context) Path() string { return mc.ref().path() }

func (c ref) path() string {
	if c.node == nil {
		return "(no context)"
	}
	depth := 0
	for p := c; p.node != nil; _, p = p.look() {
		depth++
	}
	segments := make([]string, 0, min(depth, pathHead+pathTail)+1)
	i := 0 // from the end
	for p := c; p.node != nil && i < depth; i++ {
		ident, above := p.look()
		if depth <= pathHead+pathTail || i < pathTail || depth-i <= pathHead {
			segments = append(segments, label(p.kind.name, ident))
		} else if i == pathTail {
			segments = append(segments, "…")
		}
		p = above
	}
	slices.Reverse(segments)
	return strings.Join(segments, "/")
}

// label returns the context's part of a path.
func (c ref) label() string {
	ident, _ := c.look()
	return label(c.kind.name, ident)
}

func label(name, ident string) string {
	if ident == "" {
		return name
	}
	return name + "[" + ident + "]"
}

// of names the context as the place of a misuse, or nothing if there is none.
func (c ref) of() string {
	if c.node == nil {
		return ""
	}
	return " of " + c.path()
}

// String describes the context in a line.
func (mc *Context) String() string {
	if mc.ref().node == nil {
		return "no memory context"
	}
	return mc.Stats().String()
}

// Names returns the numbers of all names that contexts were given since the
// program's start, at most some thousand, sorted. What is live is found by a walk
// of all trees.
func Names() iter.Seq[NameStats] {
	return func(yield func(NameStats) bool) {
		t := newTally()
		for r := range rootRefs() {
			r.walk(func(c ref, _ int) bool {
				own, _, _ := c.own()
				t.add(c, own)
				return true
			})
		}
		for _, s := range t.sorted() {
			if !yield(s) {
				return
			}
		}
	}
}

// A tally adds up contexts by name.
type tally struct {
	at   map[*kind]int // in list
	list []NameStats
}

// newTally returns a tally with what the kinds count themselves.
func newTally() *tally {
	t := &tally{at: make(map[*kind]int), list: []NameStats{}}
	kinds.by.Range(func(_, v any) bool {
		k := v.(*kind)
		t.at[k] = len(t.list)
		created, deleted := k.nodes.counts()
		t.list = append(t.list, NameStats{
			Name: k.name, Created: created, Deleted: deleted, Abandoned: k.abandoned.Load(),
			Dropped: k.dropped.Load(), LimitErrors: k.limitErrors.Load(), Stale: stale.Count("arena", k.name),
			Usage: Usage{HighWater: int(k.peak.Load())}, Warm: k.pool.Stats(),
		})
		return true
	})
	return t
}

// add adds a live context with what its arena has.
func (t *tally) add(c ref, own Usage) {
	at, known := t.at[c.kind]
	if !known {
		return // of a name that is newer than the tally
	}
	s := &t.list[at]
	s.Live++
	if c.is(ended) || c.is(ending) {
		s.Held++
	}
	s.Bytes += own.Bytes
	s.Chunks += own.Chunks
	s.HighWater = max(s.HighWater, own.HighWater)
}

// sorted returns the numbers by name.
func (t *tally) sorted() []NameStats {
	slices.SortFunc(t.list, func(a, b NameStats) int { return cmp.Compare(a.Name, b.Name) })
	return t.list
}

// String returns the numbers in one line.
func (s NameStats) String() string {
	return fmt.Sprintf("%s: %d live (%d held) with %s in %s, high water of one %d; %d created, %d deleted, %d abandoned, %d dropped, %s%s; %v",
		s.Name, s.Live, s.Held, account.Count(s.Bytes, "byte"), account.Count(s.Chunks, "chunk"), s.HighWater,
		s.Created, s.Deleted, s.Abandoned, s.Dropped, account.Count(s.LimitErrors, "limit error"), stale.Also(s.Stale), s.Warm)
}
