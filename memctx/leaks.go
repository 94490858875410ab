package memctx

import (
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/leak"
)

// The leak finder. Four things are found: roots, and arenas with a name, that
// the program dropped without ending them; contexts that are larger at each of
// many resets; contexts that are older than their [MaxAge]; and memory that is
// referred to after its release, see [arena.Escapes]. The first costs a
// cleanup for each root and each sampled arena, the second a comparison for each
// reset, the third a comparison for each context when somebody looks. Where a
// context was made is known of those that were sampled, see [SampleStacks].

// A Leak is one or more findings of the leak finder.
type Leak struct {
	Kind  string // "dropped", "grows", "old" or "escaped"
	What  string // "context" or "arena"; of escapes see [arena.Escape]
	Name  string
	Path  string        // of a context: the latest one
	Count uint64        // findings of this kind, name and stack
	Bytes int           // of the latest, in chunks
	Age   time.Duration // of the latest
	Stack string        // where it was made, as in a panic; "" if that was not sampled

	// Of escapes alone.
	Type     string // of the values in the memory
	Chunks   int    // pieces of memory, of the latest
	Released string // the stack of the release
}

// String returns the finding in a line, and the stack in those that follow.
func (l Leak) String() string {
	name := l.Path
	if name == "" {
		name = l.Name
	}
	if l.Kind == leak.Escaped {
		return escape.Text(leak.Finding(l))
	}
	return fmt.Sprintf("%d × %s %s %s: %d bytes, %v old\n%s", l.Count, l.What, name, l.Kind, l.Bytes, l.Age.Round(time.Millisecond), l.Stack)
}

// Leaks returns what the leak finder found since the program's start, those found
// most often first. A program that drops its contexts and arenas is not wrong,
// only slower: their memory goes to the garbage collector. It costs a step for
// each context there is if one was ever given a [MaxAge].
func Leaks() []Leak {
	if aging.Load() {
		all := takeCensus(nil)
		for i := range all.entries {
			all.entries[i].c.watchAge(all.entries[i].total.Bytes)
		}
	}
	return findings()
}

func findings() []Leak {
	list := []Leak{}
	for _, f := range leak.All() {
		list = append(list, Leak(f))
	}
	return list
}

// SampleStacks makes one context or arena in every take down where it is made,
// for the leak finder and [VerifyNone]: 1 for all, 0 for none, 128 unless set. A
// stack costs about a microsecond and 300 bytes. Arenas, other than contexts, are
// watched for being dropped only if they are sampled. It panics if every is
// negative.
func SampleStacks(every int) {
	if every < 0 {
		panic(fmt.Sprintf("memctx: SampleStacks(%d): want 1 for all, 0 for none, or one in how many", every))
	}
	leak.SampleEvery(uint32(min(uint64(every), math.MaxUint32)))
}

// growsAfter is at how many resets in a row a context must have been larger than
// at the one before.
const growsAfter = 32

// growth is what the leak finder remembers of a context from reset to reset.
type growth struct {
	bytes  int64
	streak int
}

// watchGrowth is called at each reset of the context, and at those of its parent
// that a lease made it survive.
func (c *Context) watchGrowth() {
	bytes := c.ledger.bytes.Load()
	c.mu.Lock()
	if bytes > c.growth.bytes {
		c.growth.streak++
	} else {
		c.growth.streak = 0
	}
	c.growth.bytes = bytes
	grows := c.growth.streak == growsAfter
	if grows {
		c.growth.streak = 0
	}
	c.mu.Unlock()
	if grows {
		leak.Report(leak.Grows, "context", c.kind.name, c.Path(), int(bytes), c.created.Age(), c.site)
	}
}

// watchHeld is watchGrowth of the children that a lease made survive a reset.
func (c *Context) watchHeld() {
	var held []*Context
	c.mu.Lock()
	for x := c.first; x != nil; x = x.next {
		if x.state.Load() == ended {
			held = append(held, x)
		}
	}
	c.mu.Unlock()
	for _, x := range held {
		x.watchGrowth()
	}
}

// aging is set once there was a context with a MaxAge.
var aging atomic.Bool

// watchAge reports the context, which has so many bytes with what is below it, if
// it is older than it may be, once.
func (c *Context) watchAge(bytes int) {
	if c.maxAge > 0 && c.created.Age() > c.maxAge && c.aged.CompareAndSwap(false, true) {
		leak.Report(leak.Old, "context", c.kind.name, c.Path(), bytes, c.created.Age(), c.site)
	}
}
