package arena

import (
	"math/rand/v2"
	"time"

	"github.com/haven-mem/haven/internal/escape"
	"github.com/haven-mem/haven/internal/leak"
)

// Escapes: pointers into memory that was taken back by Reset, or by what is built
// on it. Of one Reset in 1024 the chunks of one type are not used again, and
// whoever still refers to one after two garbage collections is found, see package
// internal/escape. With all of an arena's types a request in a thousand would be
// many times as slow, which is what a p99.9 shows.
//
// The chunks are cleared, as they are in any Reset: otherwise the one that is
// referred to would hold the others, of all lanes.
//
// Release of a Mark is not watched: what it takes back shares chunks with what was
// there before.

// choose begins a release, of one of the lanes that were in use or, if one is -1, of
// each. It may be nil, for none.
func (a *Arena) choose() (r *escape.Release, one int) {
	one = -1
	if !escape.Each() {
		one = rand.IntN(len(a.listed))
		if l := a.listed[one]; !escape.Affords(l.reserved() * l.size) {
			return nil, one
		}
	}
	return a.beginRelease(), one
}

// beginRelease returns a release of a's memory. A nil arena is that of a lane on
// its own.
func (a *Arena) beginRelease() *escape.Release {
	if a == nil {
		return escape.Begin("lane", "", nil)
	}
	return escape.Begin("arena", a.name, a.made)
}

// surrender clears the lane's chunks in use, adds them to a release, and leaves them.
func (l *lane) surrender(r *escape.Release) {
	typ := l.typ.String()
	add := func(b block, lo, hi int) {
		if b.n > 0 {
			b.clear(0, lo)
			b.clear(hi, b.n)
			r.Add(typ, b.base(), b.n*l.size)
		}
	}
	add(l.chunk(), *l.lo, *l.i)
	if o := l.rest; o != nil {
		for _, s := range o.full {
			add(s.block, s.lo, s.hi)
		}
		for _, b := range o.large {
			add(b, 0, 0)
		}
	}
	l.drop()
	l.forget(l.a.retained())
}

// An Escape is one or more releases of memory to which something still referred
// when two garbage collections had passed.
type Escape struct {
	What     string        // what released it: "arena", "lane", "bump arena", "pool", "cache", "local" and so on
	Name     string        // of that
	Type     string        // of the values in the memory, as %v prints it
	Count    uint64        // releases of this name, type and stacks
	Chunks   int           // pieces of memory in the latest
	Bytes    int           // in those
	Age      time.Duration // of the latest release, when that was found
	Released string        // the stack of the release, as in a panic
	Made     string        // where what released it was made; "" if that was not sampled
}

// String returns the escape in a line, and the stacks in those that follow.
func (e Escape) String() string {
	return escape.Text(leak.Finding{
		What: e.What, Name: e.Name, Type: e.Type, Count: e.Count, Chunks: e.Chunks, Bytes: e.Bytes,
		Released: e.Released, Stack: e.Made,
	})
}

func escapeOf(f leak.Finding) Escape {
	return Escape{
		What: f.What, Name: f.Name, Type: f.Type, Count: f.Count, Chunks: f.Chunks, Bytes: f.Bytes,
		Age: f.Age, Released: f.Released, Made: f.Stack,
	}
}

// Escapes returns what was found since the program's start, what was found most
// often first.
//
// Of one release in 1024, the memory is not used again but left to the garbage
// collector: at Reset of an [Arena], a [Lane], or a bump arena, at Put into a
// [Pool], or into a pool of package pool, where a slab is given back, and in the
// end of a memory context. What is referred to two collections later was kept by
// somebody for whom it is no longer meant, and would have read another's values.
// An array counts as it is: behind the length of a slice that was cut to [:0] all
// its old pointers are, until they are cleared.
//
// Memory of more than a MiB is watched as much less often as it is larger. It costs
// the others of the releases about a nanosecond. The environment variable
// HAVEN_ESCAPES sets another number than 1024; 1 watches all, 0 none.
func Escapes() []Escape {
	list := []Escape{}
	for _, f := range leak.All() {
		if f.Kind == leak.Escaped {
			list = append(list, escapeOf(f))
		}
	}
	return list
}

// OnEscape has f called with each escape when it is found, from now on, in place
// of the function that was given before; nil: none. The Count is 1. f is called
// on a goroutine of the runtime's, or on that of a [VerifyNoEscapes]: it should be
// short, and must not panic.
func OnEscape(f func(Escape)) {
	if f == nil {
		escape.Tell(nil)
		return
	}
	escape.Tell(func(e leak.Finding) { f(escapeOf(e)) })
}

// TestingT is what [VerifyNoEscapes] needs of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// VerifyNoEscapes is for the first line of a test: from the call to the end of the
// test each release is watched, as [Escapes] says of some, and at the end, after
// two garbage collections, the test fails with a list of those whose memory is
// still referred to, with stacks.
//
// It runs when the Cleanup functions that are registered later have run. What
// the test started must have come to its end by then: a goroutine that still has a
// pointer is an escape. Since nothing that was released is used again, a test
// allocates more. VerifyNoEscapes sees the releases of the whole process, so it is
// not for tests that run in parallel with others.
func VerifyNoEscapes(t TestingT) {
	t.Helper()
	first := escape.Now()
	end := escape.All()
	t.Cleanup(func() {
		t.Helper()
		end()
		if list, _ := escape.Since(first); len(list) > 0 {
			t.Errorf("arena: %s", escape.List(list))
		}
	})
}
