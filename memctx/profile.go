package memctx

import (
	"io"
	"iter"
	"slices"
	"time"

	"github.com/haven-mem/haven/internal/profile"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// WriteProfile writes the memory that is in use as a profile that go tool pprof
// reads, compressed. What stands for a call stack is the way from a root to a
// context, by names: server, conn, request. So -top ranks the names by bytes, with
// what is below them as the cumulative part, -tree and -peek show what is above and
// below, and the flame graph of -http is the tree. Contexts whose ways have the same
// names are one stack: identities are not in the profile, and it is as small with a
// million requests as with one.
//
// There are three values: contexts, chunks and space, of which space, in bytes, is
// shown unless -sample_index says otherwise. All are of a context's own arena. Below
// three roots beside the contexts is the rest of what Haven holds, space only:
// "caches", the slabs of each cache that has a name; "pools", the idle objects of
// each such pool; "warm arenas", those that wait for contexts. Ways of more than
// 512 names are cut there: what is below counts for the frame "…".
//
// It returns the first error of w. It may be called from any goroutine, also while
// the program is at work. It costs some hundred nanoseconds and some hundred bytes
// for each context.
func WriteProfile(w io.Writer) error {
	p := profile.NewWriter(w, time.Now(), "haven",
		profile.Type{Name: "contexts", Unit: "count"},
		profile.Type{Name: "chunks", Unit: "count"},
		profile.Type{Name: "space", Unit: "bytes"})
	all := takeCensus(ref{})
	writeWays(p, all)
	writeRest(p, "caches", "cache ", slab.Caches(), func(s slab.Stats) (string, int) { return s.Name, s.Bytes })
	writeRest(p, "pools", "pool ", pool.Pools(), func(s pool.Stats) (string, int) { return s.Name, s.Bytes })
	writeRest(p, "warm arenas", "warm ", slices.Values(newTally().sorted()), func(s NameStats) (string, int) { return s.Name, s.Warm.Reserved })
	return p.Close()
}

// maxFrames bounds the stacks of a profile, the cut included: that of a tree which
// is one long chain would otherwise grow with the square of its depth.
const maxFrames = 512

const cut = "…"

// A way is what the contexts have in common whose names, from the root down, are
// the same.
type way struct {
	up       *way
	depth    int // of the root: 0
	name     string
	contexts int64
	chunks   int64
	bytes    int64
}

// A step is how one way leads to another.
type step struct {
	up   *way
	name string
}

// writeWays writes a sample for each way.
func writeWays(p *profile.Writer, all *census) {
	ways := make(map[step]*way)
	var list []*way                      // in the order in which they were found
	of := make([]*way, len(all.entries)) // each entry's
	for i := range all.entries {
		e := &all.entries[i]
		var up *way
		if e.parent >= 0 {
			up = of[e.parent]
		}
		x := up
		if up == nil || up.depth < maxFrames-1 {
			to := step{up, e.c.kind.name}
			depth := 0
			if up != nil {
				if depth = up.depth + 1; depth == maxFrames-1 {
					to.name = cut
				}
			}
			if x = ways[to]; x == nil {
				x = &way{up: up, depth: depth, name: quote(to.name)}
				ways[to] = x
				list = append(list, x)
			}
		}
		of[i] = x
		x.contexts++
		x.chunks += int64(e.own.Chunks)
		x.bytes += int64(e.own.Bytes)
	}
	var stack []string
	for _, x := range list {
		stack = stack[:0]
		for y := x; y != nil; y = y.up {
			stack = append(stack, y.name)
		}
		slices.Reverse(stack)
		p.Sample(stack, x.contexts, x.chunks, x.bytes)
	}
}

// writeRest writes a sample for each thing that has bytes, below a root that says
// what they are. Their frames say so as well, since viewers take all frames of one
// name together, and contexts often have the names of what they use.
func writeRest[S any](p *profile.Writer, root, kind string, all iter.Seq[S], of func(S) (name string, bytes int)) {
	for s := range all {
		if name, bytes := of(s); bytes > 0 {
			p.Sample([]string{root, kind + quote(name)}, 0, 0, int64(bytes))
		}
	}
}
