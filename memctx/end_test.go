package memctx_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A branch is a tree of seven contexts whose callbacks, two each, write down that
// they ran.
type branch struct {
	root, a, b, a1, a2, b1, b2 *memctx.Context

	ran   []string
	fails map[string]func() // what callbacks do beside
}

func newBranch(root *memctx.Context) *branch {
	x := &branch{root: root, fails: map[string]func(){}}
	x.a, x.b = root.Child("a"), root.Child("b")
	x.a1, x.b1 = x.a.Child("a1"), x.b.Child("b1")
	x.a2, x.b2 = x.a.Child("a2"), x.b.Child("b2")
	for _, c := range x.all() {
		arena.New[[10]int](c.Arena())
		for _, id := range []string{" 1", " 2"} {
			id = c.Name() + id
			c.OnReset(func() {
				x.ran = append(x.ran, id)
				if f := x.fails[id]; f != nil {
					f()
				}
			})
		}
	}
	return x
}

// all returns the contexts in the order in which they should end, from behind.
func (x *branch) all() []*memctx.Context {
	return []*memctx.Context{x.root, x.a, x.a1, x.a2, x.b, x.b1, x.b2}
}

// order is in which callbacks of a branch run.
var order = []string{"b2 2", "b2 1", "b1 2", "b1 1", "b 2", "b 1", "a2 2", "a2 1", "a1 2", "a1 1", "a 2", "a 1", "root 2", "root 1"}

var branchNames = []string{"root", "a", "b", "a1", "a2", "b1", "b2"}

// ended fails the test unless all contexts but the root are gone, and everything
// adds up.
func (x *branch) ended(t testing.TB) {
	t.Helper()
	checkAll(t, x.all()...)
	checkNames(t, branchNames...)
	for _, c := range x.all()[1:] {
		if s := memctx.StateOf(c); s != "gone" {
			t.Errorf("%s is %s", c.Path(), s)
		}
	}
}

// Callbacks run once, the last one first, those of children before those of their
// parents, and those of what was made last first.
func TestCallbackOrder(t *testing.T) {
	for _, end := range []struct {
		name string
		f    func(*memctx.Context)
		want []string
	}{
		{"Delete", (*memctx.Context).Delete, order},
		{"Reset", (*memctx.Context).Reset, order},
		{"ResetChildren", (*memctx.Context).ResetChildren, order[:12]},
		{"one by one", func(c *memctx.Context) {
			for c.Stats().Children > 0 {
				var last *memctx.Context
				c.Walk(func(x *memctx.Context, _ int) bool { last = x; return true })
				last.Delete()
			}
			c.Delete()
		}, order},
	} {
		t.Run(end.name, func(t *testing.T) {
			x := newBranch(memctx.New("root"))
			end.f(x.root)
			if !slices.Equal(x.ran, end.want) {
				t.Errorf("ran %q\nwant %q", x.ran, end.want)
			}
			checkAll(t, x.all()...)
			if end.name == "ResetChildren" {
				if n := x.root.Stats().Contexts; n != 7 {
					t.Errorf("%d contexts after ResetChildren", n)
				}
			}
			if end.name != "Delete" && end.name != "one by one" {
				x.root.Delete()
			}
			if !slices.Equal(x.ran, order) {
				t.Errorf("ran %q\nwant %q", x.ran, order)
			}
			x.ended(t)
		})
	}
}

// Callbacks see everything as it was; what they allocate goes with the rest.
func TestCallbacksSeeMemory(t *testing.T) {
	root := memctx.New("root")
	defer root.Delete()
	for _, end := range []func(*memctx.Context){(*memctx.Context).Reset, (*memctx.Context).Delete} {
		parent := root.Child("parent")
		c := parent.Child("child")
		above := parent.Arena() // of a context that is deleted one can only use what one has
		p, q := arena.NewFrom(above, 1), arena.NewFrom(c.Arena(), 2)
		ran := 0
		c.OnReset(func() {
			if ran++; *p != 1 || *q != 2 {
				t.Errorf("the callback of the child sees %d and %d", *p, *q)
			}
			*arena.New[int](c.Arena()) = 3
			*arena.New[int](above) = 3
			if s := c.Stats(); s.Path != "root/parent/child" || s.Own.Bytes == 0 {
				t.Errorf("the callback sees %v", s)
			}
		})
		parent.OnReset(func() {
			if ran++; *p != 1 || ran != 2 {
				t.Errorf("the callback of the parent sees %d", *p)
			}
			parent.OnReset(func() { ran++ })
		})
		end(parent)
		if ran != 3 {
			t.Errorf("%d callbacks ran", ran)
		}
		if s := parent.Stats(); s.Children != 0 || memctx.StateOf(c) != "gone" {
			t.Errorf("%v", s)
		}
		if memctx.StateOf(parent) == "live" {
			if v := arena.New[int](parent.Arena()); *v != 0 {
				t.Error("memory was not taken back")
			}
			parent.Delete()
		}
		checkAll(t, root, parent, c)
	}
}

func TestReset(t *testing.T) {
	root := memctx.New("root")
	defer root.Delete()
	c := root.Child("reset")
	a := c.Arena()
	for i := range 10 {
		for range 50 {
			if v := arena.New[[4]int](a); *v != ([4]int{}) {
				t.Fatal("memory is not zero")
			} else {
				v[3] = 1
			}
		}
		below := c.Child("below")
		arena.New[int](below.Child("below").Arena())
		c.Reset()
		s := c.Stats()
		if s.Resets != uint64(i+1) || s.Contexts != 1 || a.Stats().InUse != 0 || c.Arena() != a || s.Total != s.Own {
			t.Fatalf("%v; %v", s, a)
		}
		if i > 0 && s.Own.Chunks != 1 {
			t.Errorf("%v: the memory is not kept", s)
		}
		testkit.PanicText(t, "memctx: Reset of the deleted context root/reset/below", below.Reset)
	}
	checkAll(t, root)
}

func TestResetChildren(t *testing.T) {
	x := newBranch(memctx.New("root"))
	defer x.root.Delete()
	p := arena.NewFrom(x.root.Arena(), 5)
	arenas := map[*memctx.Context]*arena.Arena{}
	for _, c := range x.all() {
		arenas[c] = c.Arena()
	}
	for i := range 3 {
		x.root.ResetChildren()
		for _, c := range x.all()[1:] {
			if s := c.Stats(); s.Resets != uint64(i+1) || c.Arena() != arenas[c] || arenas[c].Stats().InUse != 0 || s.Deleted {
				t.Errorf("%v", s)
			}
			arena.New[int](c.Arena())
		}
	}
	x.root.Child("root").ResetChildren() // of a leaf
	if *p != 5 || x.root.Stats().Resets != 0 {
		t.Errorf("the context itself was reset: %v", x.root)
	}
	checkAll(t, x.root)
}

// forEachCallback calls f with a branch for each of the callbacks.
func forEachCallback(t *testing.T, f func(t *testing.T, x *branch, k int)) {
	for k := range order {
		f(t, newBranch(memctx.New("root")), k)
	}
}

// If a callback panics the others still run, the panic goes on, the memory is given
// back and everything adds up.
func TestCallbackPanics(t *testing.T) {
	ends := map[string]func(*memctx.Context){"Delete": (*memctx.Context).Delete, "Reset": (*memctx.Context).Reset, "ResetChildren": (*memctx.Context).ResetChildren}
	for name, end := range ends {
		forEachCallback(t, func(t *testing.T, x *branch, k int) {
			want := order
			if name == "ResetChildren" {
				want = order[:12]
			}
			arenas := map[*memctx.Context]*arena.Arena{}
			for _, c := range x.all() {
				arenas[c] = c.Arena()
			}
			x.fails[order[k]] = func() { panic(order[k]) }
			func() {
				defer func() {
					if r := recover(); k < len(want) && r != order[k] || k >= len(want) && r != nil {
						t.Errorf("%s panics with %v in %s", name, r, order[k])
					}
				}()
				end(x.root)
			}()
			if !slices.Equal(x.ran, want) {
				t.Errorf("%s, panic in %s, ran %q", name, order[k], x.ran)
			}
			for c, a := range arenas {
				s := memctx.StateOf(c)
				if s == "live" && a.Stats().InUse > 0 && (c != x.root || name == "Reset") {
					t.Errorf("%s, panic in %s: %s was not reset", name, order[k], c.Path())
				}
				if s == "live" != (name == "ResetChildren" || name == "Reset" && c == x.root) {
					t.Errorf("%s, panic in %s: %s is %s", name, order[k], c.Path(), s)
				}
			}
			checkAll(t, x.all()...)
			clear(x.fails)
			if name != "Delete" {
				x.root.Delete()
			}
			x.ended(t)
			if n := namesOf(t, "b2"); n.Live != 0 {
				t.Errorf("%v", n)
			}
		})
	}
}

// Several panics: the last one goes on.
func TestManyPanics(t *testing.T) {
	x := newBranch(memctx.New("root"))
	for _, id := range order[:len(order)-1] {
		x.fails[id] = func() { panic(id) }
	}
	if r := testkit.Panic(t, x.root.Delete); r != "root 2" {
		t.Errorf("panics with %v", r)
	}
	if !slices.Equal(x.ran, order) {
		t.Errorf("ran %q", x.ran)
	}
	x.ended(t)

	// A program with a mistake in a callback has it in all of them.
	n := 3000
	root := memctx.New("root")
	ran := 0
	for range n {
		root.Child("panics").OnReset(func() { ran++; panic(ran) })
	}
	if r := testkit.Panic(t, root.Delete); r != n || ran != n {
		t.Errorf("panics with %v, %d ran", r, ran)
	}
	checkAll(t, root)
	checkNames(t, "panics", "root")
}

// A callback that ends its goroutine does not keep the others from running.
func TestCallbackGoexit(t *testing.T) {
	for name, end := range map[string]func(*memctx.Context){"Delete": (*memctx.Context).Delete, "Reset": (*memctx.Context).Reset} {
		forEachCallback(t, func(t *testing.T, x *branch, k int) {
			x.fails[order[k]] = runtime.Goexit
			x.fails[order[(k+5)%len(order)]] = runtime.Goexit
			done := make(chan bool)
			go func() {
				defer close(done)
				end(x.root)
				t.Errorf("%s returned", name)
			}()
			<-done
			if !slices.Equal(x.ran, order) {
				t.Errorf("%s, Goexit in %s, ran %q", name, order[k], x.ran)
			}
			if name == "Reset" {
				x.root.Delete()
			}
			x.ended(t)
		})
	}
}

// The arena's own callbacks run behind the context's, and their panics do no harm
// either.
func TestArenaCallbacks(t *testing.T) {
	ends := map[string]func(c *memctx.Context){
		"Reset":  (*memctx.Context).Reset,
		"Delete": (*memctx.Context).Delete,
		"Reset of a held context": func(c *memctx.Context) {
			c.Retain()
			defer c.Release()
			c.Reset()
		},
		"Reset of the parent":         func(c *memctx.Context) { c.Parent().Reset() },
		"ResetChildren of the parent": func(c *memctx.Context) { c.Parent().ResetChildren() },
		"Delete after Abandon": func(c *memctx.Context) {
			c.Abandon()
			c.Delete()
		},
		"Release": func(c *memctx.Context) {
			c.Retain()
			c.Parent().Reset()
			c.Release()
		},
	}
	for name, end := range ends {
		for fails := range 3 {
			parent := memctx.New("root")
			c := parent.Child("callbacks")
			a := c.Arena()
			var ran []int
			for i := range 3 {
				a.OnReset(func() {
					ran = append(ran, i)
					if i == fails {
						panic(i)
					}
				})
			}
			c.OnReset(func() { ran = append(ran, 3) })
			arena.New[[100]int](a)
			if r := testkit.Panic(t, func() { end(c) }); r != fails {
				t.Errorf("%s panics with %v", name, r)
			}
			if want := []int{3, 2, 1, 0}; !slices.Equal(ran, want) {
				t.Errorf("%s: ran %v, want %v", name, ran, want)
			}
			checkAll(t, parent, c)
			if memctx.StateOf(c) == "live" {
				if s := a.Stats(); s.InUse != 0 || s.Resets == 0 {
					t.Errorf("%s: the arena was not reset: %v", name, s)
				}
				c.Delete()
			}
			if memctx.StateOf(c) != "gone" || memctx.Taken(c) != 0 {
				t.Errorf("%s: %s with %d bytes", name, memctx.StateOf(c), memctx.Taken(c))
			}
			parent.Delete()
			checkAll(t, parent, c)
		}
	}
	checkNames(t, "callbacks", "root")
}

// Callbacks may end other contexts of the tree that is ended, and make contexts
// elsewhere.
func TestCallbacksThatEnd(t *testing.T) {
	other := memctx.New("other")
	defer other.Delete()
	root := memctx.New("root")
	var ran []string
	note := func(c *memctx.Context) { ran = append(ran, c.Name()) }
	a, b, c := root.Child("a"), root.Child("b"), root.Child("c")
	a1 := a.Child("a1")
	for _, x := range []*memctx.Context{root, a, a1, b} {
		x.OnReset(func() { note(x) })
	}
	c.OnReset(func() {
		note(c)
		other.Child("b").OnReset(func() { note(other) })
		other.Child("a").Delete()
		if err := other.Child("a").SetParent(nil); err != nil {
			t.Error(err)
		}
		for r := range memctx.Roots() {
			if r.Name() == "a" {
				r.Delete()
			}
		}
		memctx.TakeSnapshot()
	})
	root.Delete()
	if want := []string{"c", "b", "a1", "a", "root"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	checkAll(t, root, a, a1, b, c, other)

	// In ResetChildren what was made first is still there to be deleted.
	ran = nil
	root = memctx.New("root")
	defer root.Delete()
	a, b = root.Child("a"), root.Child("b")
	a1 = a.Child("a1")
	a1.OnReset(func() { note(a1) })
	b.OnReset(func() {
		note(b)
		a.Delete()
	})
	root.ResetChildren()
	if want := []string{"b", "a1"}; !slices.Equal(ran, want) || memctx.StateOf(a1) != "gone" || b.Stats().Resets != 1 {
		t.Errorf("ran %q, want %q", ran, want)
	}
	checkAll(t, root, a, a1)
}

// Delete of a context that waits for one below, which is deleted by its own, ends
// it once.
func TestDeleteFromBelow(t *testing.T) {
	root := memctx.New("root")
	list := []*memctx.Context{root}
	for i := range 5 {
		list = append(list, list[i].Child("below"))
	}
	last := list[5]
	last.Retain()
	ran := 0
	for _, c := range list {
		c.OnReset(func() { ran++ })
	}
	root.Delete()
	if ran != 0 {
		t.Errorf("%d callbacks ran above a held context", ran)
	}
	last.Delete() // does nothing
	last.Release()
	if ran != 6 {
		t.Errorf("%d callbacks ran", ran)
	}
	checkAll(t, list...)
	for _, c := range list {
		if memctx.StateOf(c) != "gone" {
			t.Errorf("%s is %s", c.Path(), memctx.StateOf(c))
		}
	}
	checkNames(t, "root", "below")
}
