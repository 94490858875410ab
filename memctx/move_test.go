package memctx_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// fill allocates so many bytes in a chunk of their own, without warm memory. It is
// for more than twice what the arena has.
func fill(t testing.TB, c *memctx.Context, bytes int) []byte {
	t.Helper()
	c.Arena().Trim(0)
	// A type of its own, since first chunks of bytes are as large as other tests needed.
	type filling byte
	s, err := arena.TryMakeSlice[filling](c.Arena(), bytes, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*byte)(unsafe.SliceData(s)), bytes)
}

func TestSetParent(t *testing.T) {
	root := memctx.New("root")
	a, b := root.Child("a"), root.Child("b")
	c := a.Child("c")
	d := c.Child("d")
	v := arena.NewFrom(d.Arena(), 7)
	for _, step := range []struct {
		to   *memctx.Context
		path string
		tree []string
	}{
		{b, "root/b/c/d", []string{"0 root", "1 root/a", "1 root/b", "2 root/b/c", "3 root/b/c/d"}},
		{b, "root/b/c/d", []string{"0 root", "1 root/a", "1 root/b", "2 root/b/c", "3 root/b/c/d"}},
		{root, "root/c/d", []string{"0 root", "1 root/a", "1 root/b", "1 root/c", "2 root/c/d"}},
		{nil, "c/d", []string{"0 root", "1 root/a", "1 root/b"}},
		{nil, "c/d", []string{"0 root", "1 root/a", "1 root/b"}},
		{a, "root/a/c/d", []string{"0 root", "1 root/a", "2 root/a/c", "3 root/a/c/d", "1 root/b"}},
	} {
		if err := c.SetParent(step.to); err != nil {
			t.Fatal(err)
		}
		if c.Parent() != step.to || d.Path() != step.path {
			t.Errorf("path %s, want %s", d.Path(), step.path)
		}
		if got := walked(root); !slices.Equal(got, step.tree) {
			t.Errorf("tree %q\nwant %q", got, step.tree)
		}
		checkAll(t, root, c)
	}
	// It ends with what it is below now: Postgres' use.
	if err := c.SetParent(b); err != nil {
		t.Error(err)
	}
	a.Delete()
	if *v != 7 || memctx.StateOf(d) != "live" {
		t.Errorf("it ended with the parent that it had")
	}
	b.Delete()
	if memctx.StateOf(d) != "gone" {
		t.Errorf("it did not end with its parent")
	}
	root.Delete()
	checkAll(t, root, a, b, c, d)
	checkNames(t, "root", "a", "b", "c", "d")
}

// A cycle is an error that names both; so is a place in an abandoned tree.
func TestSetParentErrors(t *testing.T) {
	root := memctx.New("root")
	defer root.Delete()
	a := root.Child("a")
	b := a.Child("b", memctx.Config{Ident: "1"})
	lost := root.Child("lost")
	below := lost.Child("below")
	lost.Abandon()
	before := walked(root)
	for _, x := range []struct {
		c, p *memctx.Context
		text string
	}{
		{a, a, "memctx: SetParent of root/a to root/a: want a context that is not the same or below it"},
		{a, b, "memctx: SetParent of root/a to root/a/b[1]: want a context that is not the same or below it"},
		{root, b, "memctx: SetParent of root to root/a/b[1]: want a context that is not the same or below it"},
		{a, lost, "memctx: SetParent of root/a to root/lost: root/lost was abandoned"},
		{a, below, "memctx: SetParent of root/a to root/lost/below: root/lost/below was abandoned"},
		{lost, a, "memctx: SetParent of root/lost to root/a: root/lost was abandoned"},
		{below, a, "memctx: SetParent of root/lost/below to root/a: root/lost/below was abandoned"},
		{below, nil, "memctx: SetParent of root/lost/below to (no context): root/lost/below was abandoned"},
		{lost.Child("new"), a, "memctx: SetParent of root/lost/new to root/a: root/lost/new was abandoned"},
	} {
		if err := x.c.SetParent(x.p); err == nil || err.Error() != x.text {
			t.Errorf("error %v\nwant  %s", err, x.text)
		}
	}
	if got := walked(root); !slices.Equal(got, before) {
		t.Errorf("tree %q\nwant %q", got, before)
	}
	checkAll(t, root, lost)

	// After a panic everything works on, too.
	gone := root.Child("gone")
	gone.Delete()
	testkit.PanicText(t, "memctx: SetParent of root/a to the deleted context root/gone", func() { a.SetParent(gone) })
	testkit.PanicText(t, "memctx: SetParent of the deleted context root/gone", func() { gone.SetParent(a) })
	held := root.Child("held")
	held.Retain()
	held.Delete()
	testkit.PanicText(t, "memctx: SetParent of root/a to the deleted context root/held", func() { a.SetParent(held) })
	// Who has a lease may move it, where it waits for the lease as before.
	if err := held.SetParent(a); err != nil {
		t.Error(err)
	}
	a.Delete()
	if err := held.SetParent(nil); err != nil { // and a ends, which waited for it alone
		t.Error(err)
	}
	if memctx.StateOf(a) != "gone" {
		t.Errorf("%s is %s", a.Path(), memctx.StateOf(a))
	}
	checkAll(t, root, a, held)
	held.Release()
	checkAll(t, root, a, held)
	if n := namesOf(t, "held"); n.Live != 0 || n.Dropped != 0 {
		t.Errorf("%v", n)
	}
}

// What a subtree holds of the limits above moves along, exactly.
func TestSetParentMovesLimits(t *testing.T) {
	top := memctx.New("top", memctx.Config{Limit: 1 << 20})
	defer top.Delete()
	x := top.Child("tenant", memctx.Config{Ident: "x", Limit: 300_000})
	y := top.Child("tenant", memctx.Config{Ident: "y", Reserve: 150_000})
	z := memctx.New("tenant", memctx.Config{Ident: "z"})
	defer z.Delete()
	job := x.Child("work")
	part, bound, ahead := job.Child("work"), job.Child("work", memctx.Config{Limit: 50_000}), job.Child("work", memctx.Config{Reserve: 60_000})
	below := bound.Child("work")
	for c, n := range map[*memctx.Context]int{x: 1000, y: 2000, job: 4000, part: 8000, bound: 16_000, below: 20_000, ahead: 32_000} {
		fill(t, c, n)
	}
	all := []*memctx.Context{top, x, y, z, job, part, bound, ahead, below}
	moves := func(c, to *memctx.Context, want ...int) {
		t.Helper()
		if err := c.SetParent(to); err != nil {
			t.Error(err)
		}
		var got []int
		for _, c := range []*memctx.Context{top, x, y, z, bound} {
			got = append(got, memctx.Taken(c))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s to %s: counted %v, want %v", c.Path(), to.Path(), got, want)
		}
		checkAll(t, all...)
	}
	// The job has 4000 + 8000 + 36000, and 60000 that are set aside.
	moves(job, x, 259_000, 109_000, 2000, 0, 36_000)
	moves(job, y, 151_000, 1000, 110_000, 0, 36_000)
	moves(job, z, 151_000, 1000, 2000, 0, 36_000)
	moves(job, top, 259_000, 1000, 2000, 0, 36_000)
	moves(job, x, 259_000, 109_000, 2000, 0, 36_000)
	moves(bound, y, 223_000, 73_000, 38_000, 0, 36_000)
	moves(below, part, 243_000, 93_000, 18_000, 0, 16_000)
	moves(below, nil, 223_000, 73_000, 18_000, 0, 16_000)
	moves(below, bound, 223_000, 73_000, 38_000, 0, 36_000)
	moves(y, x, 223_000, 223_000, 38_000, 0, 36_000)
	moves(job, y, 151_000, 151_000, 110_000, 0, 36_000)
	moves(bound, x, 187_000, 187_000, 74_000, 0, 36_000)
	moves(y, nil, 37_000, 37_000, 74_000, 0, 36_000)
	moves(y, top, 187_000, 37_000, 74_000, 0, 36_000)

	// What is taken from then on is taken there.
	fill(t, part, 100_000)
	if memctx.Taken(x) != 37_000 || memctx.Taken(y) != 174_000 || memctx.Taken(top) != 211_000 {
		t.Errorf("counted %d, %d, %d", memctx.Taken(top), memctx.Taken(x), memctx.Taken(y))
	}
	checkAll(t, all...)
}

// A limit above the new place that has no room leaves all as it was.
func TestSetParentLimit(t *testing.T) {
	top := memctx.New("top", memctx.Config{Limit: 200_000})
	defer top.Delete()
	x := top.Child("tenant", memctx.Config{Ident: "x", Limit: 150_000})
	y := top.Child("tenant", memctx.Config{Ident: "y", Limit: 100_000})
	job := x.Child("work")
	list := []*memctx.Context{job}
	for i := range 10 { // parts that fit one by one
		c := list[i/2].Child("work", memctx.Config{Ident: fmt.Sprint(i)})
		fill(t, c, 10_000)
		list = append(list, c)
	}
	fill(t, y, 300)
	fill(t, job, 5000)
	before := []memctx.Stats{top.Stats(), x.Stats(), y.Stats(), job.Stats()}
	err := job.SetParent(y)
	var le *arena.LimitError
	if !errors.As(err, &le) || !errors.Is(err, arena.ErrLimit) {
		t.Fatalf("error %v", err)
	}
	want := arena.LimitError{Name: y.Path(), Limit: 100_000, Used: 300, Requested: 105_000, Chain: []arena.LimitUse{
		{Path: job.Path(), Used: 5000},
		{Path: y.Path(), Used: 300, Limit: 100_000},
		{Path: top.Path(), Used: 105_300, Limit: 200_000},
	}}
	if !reflect.DeepEqual(*le, want) {
		t.Errorf("error %+v\nwant  %+v", *le, want)
	}
	for i, c := range []*memctx.Context{top, x, y, job} {
		s := c.Stats()
		if s.Age = before[i].Age; s != before[i] {
			t.Errorf("after the error %+v\nbefore it %+v", s, before[i])
		}
	}
	checkAll(t, top)

	// Between two below one full limit nothing more is taken above.
	fill(t, top, 94_700)
	if err := list[1].SetParent(y); err != nil {
		t.Errorf("below a full limit: %v", err)
	}
	if memctx.Taken(top) != 200_000 {
		t.Errorf("counted %d", memctx.Taken(top))
	}
	checkAll(t, top)
	top.ResetChildren()
	top.Reset()

	// Unless the place before keeps what it set aside.
	keeps := top.Child("tenant", memctx.Config{Reserve: 60_000})
	x, y = keeps.Child("work"), top.Child("work")
	fill(t, x, 60_000)
	fill(t, y, 90_000)
	if err := x.SetParent(y); !isLimit(err) || !errors.As(err, &le) || le.Name != top.Path() || x.Parent() != keeps {
		t.Errorf("error %v", err)
	}
	checkAll(t, top)
	y.Reset()
	y.Arena().Trim(0)
	if err := x.SetParent(y); err != nil || memctx.Taken(top) != 120_000 {
		t.Errorf("error %v, counted %d", err, memctx.Taken(top))
	}
	checkAll(t, top)
}

// While a subtree moves to and fro between two below one limit, those in it, beside
// it and above it take and give back. Nobody ever sees a limit exceeded, and in the
// end the sums are exact.
func TestSetParentConcurrent(t *testing.T) {
	rounds := fewer(10_000, 3000)
	const limit = 200_000
	top := memctx.New("top", memctx.Config{Limit: limit})
	defer top.Delete()
	x, y := top.Child("tenant", memctx.Config{Limit: limit / 2}), top.Child("tenant", memctx.Config{Limit: limit / 2, Reserve: 30_000})
	job := x.Child("work")
	inner := job.Child("work", memctx.Config{Limit: limit / 4})
	var done atomic.Bool
	var wg sync.WaitGroup
	var granted, refused, moved atomic.Int64
	for i, parent := range []*memctx.Context{job, inner, job.Child("work"), x, y, top} {
		c := parent.Child("work", memctx.Config{Ident: fmt.Sprint(i)})
		wg.Add(1)
		go func() {
			defer wg.Done()
			kept := 0
			for n := i; !done.Load(); n++ {
				if _, err := arena.TryMakeSlice[byte](c.Arena(), 3000+n%7000, 3000+n%7000); err == nil {
					granted.Add(1)
				} else if isLimit(err) {
					refused.Add(1)
					c.Reset()
					c.Arena().Trim(0)
				} else {
					t.Error(err)
				}
				if n%10 == 0 {
					b := parent.Child("work")
					if kept < 10 && n%500 == 0 { // must pass on to the right one in the end
						kept++
						continue
					}
					arena.TryNew[int](b.Arena())
					b.Delete()
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !done.Load() {
			for c, most := range map[*memctx.Context]int{top: limit, x: limit / 2, y: limit / 2, inner: limit / 4} {
				if n := memctx.Taken(c); n > most || n < 0 {
					t.Errorf("%s counts %d bytes, its limit is %d", c.Path(), n, most)
				}
			}
		}
	}()
	for i := 0; i < rounds || i < 50*rounds && (granted.Load() < 1000 || refused.Load() < 100); i++ {
		if i%10 == 0 {
			runtime.Gosched()
		}
		to := []*memctx.Context{y, x, top, x}[i%4]
		if err := job.SetParent(to); err == nil {
			moved.Add(1)
		} else if !isLimit(err) {
			t.Error(err)
		}
		if i%100 == 0 {
			if err := inner.SetParent(to); err != nil && !isLimit(err) {
				t.Error(err)
			}
			if err := inner.SetParent(job); err != nil && !isLimit(err) {
				t.Error(err)
			}
		}
	}
	done.Store(true)
	wg.Wait()
	if granted.Load() == 0 || refused.Load() == 0 || moved.Load() == 0 {
		t.Errorf("%d granted, %d refused, %d moved", granted.Load(), refused.Load(), moved.Load())
	}
	checkAll(t, top)
	top.Reset()
	if n := memctx.Taken(top); n != 0 {
		t.Errorf("%d bytes left", n)
	}
}

// SetParent meets the Delete of what it moves to, and from: the context ends with
// the one, or the other, or not at all.
func TestSetParentMeetsDelete(t *testing.T) {
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	for i := range rounds {
		root := memctx.New("root", memctx.Config{Limit: 1 << 20})
		from, to := root.Child("from"), root.Child("to", memctx.Config{Limit: 1 << 19})
		c := from.Child("moves")
		arena.New[int](c.Arena())
		for range i % 100 { // so that the move takes its time
			c.Child("below")
		}
		if i%2 == 0 {
			to.Child("below")
		}
		ends := to
		if i%3 == 0 {
			ends = from
		}
		done := make(chan bool)
		var ready atomic.Int32
		meet := func(steps int) {
			ready.Add(1)
			for ready.Load() < 2 {
				runtime.Gosched()
			}
			for range steps {
				ready.Load()
			}
		}
		go func() {
			defer close(done)
			meet(i * 7 % 3000) // later and later
			ends.Delete()
		}()
		meet(0)
		var panicked any
		func() {
			defer func() { panicked = recover() }()
			if err := c.SetParent(to); err != nil {
				t.Error(err)
			}
		}()
		<-done
		s := memctx.StateOf(c)
		switch {
		case panicked == nil && (s == "live") != (ends == from):
			t.Fatalf("it moved from %s to %s, and is %s", from.Path(), to.Path(), s)
		case panicked != nil && (s == "gone") != (ends == from):
			t.Fatalf("%v, and it is %s", panicked, s)
		}
		checkAll(t, root, from, to, c)
		root.Delete()
		checkAll(t, root, from, to, c)
	}
	checkNames(t, "root", "from", "to", "moves", "below")
}
