package memctx_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A leaf is of untyped memory.
type leaf struct {
	key  int
	next *leaf
}

// Untyped memory counts against the limits of all contexts above, and goes back.
func TestBumpIsPaid(t *testing.T) {
	root := memctx.New("root", memctx.Config{Limit: 1 << 20})
	defer root.Delete()
	c := root.Child("index")
	b := c.Bump()
	if b != c.Bump() {
		t.Fatal("two untyped arenas of one context")
	}
	n := 0
	for ; ; n++ {
		_, err := b.TryAlloc(1000, 8)
		if err != nil {
			var le *arena.LimitError
			if !errors.As(err, &le) || !errors.Is(err, arena.ErrLimit) || !errors.Is(err, bump.ErrLimit) || le.Limit != 1<<20 || le.Requested != 1000 || len(le.Chain) != 2 {
				t.Fatalf("%#v", err)
			}
			break
		}
	}
	if got := n * 1000; got > 1<<20 || got < 1<<20*8/10 {
		t.Errorf("%d bytes in a limit of a MiB", got)
	}
	s := b.Stats()
	if got := root.Stats().Total; got.Bytes != s.Reserved || got.Chunks != s.Chunks || s.Reserved > 1<<20 {
		t.Errorf("%v is charged of %v", got, s)
	}
	checkAll(t, root)
	if s.Name != "index" || !strings.HasPrefix(b.String(), `bump arena "index": `) {
		t.Errorf("%v is named %q", b, s.Name)
	}
	c.Reset()
	if got := root.Stats().Total; got.Bytes != 0 || got.Chunks != 0 {
		t.Errorf("%v after Reset", got)
	}
	bump.New[leaf](b) // the same arena goes on
	if got := root.Stats().Total; got.Chunks != 1 {
		t.Errorf("%v of one chunk", got)
	}
	c.Delete()
	if got := root.Stats().Total; got.Bytes != 0 || got.Chunks != 0 {
		t.Errorf("%v after Delete", got)
	}
	checkAll(t, root)
}

// Whoever has a pointer into untyped memory reads what was there, after a Reset of the
// context, its end, and whatever comes then.
func TestBumpIsNotUsedAgain(t *testing.T) {
	for name, end := range map[string]func(c *memctx.Context){
		"Reset":           func(c *memctx.Context) { c.Reset() },
		"Delete":          func(c *memctx.Context) { c.Delete() },
		"Abandon":         func(c *memctx.Context) { c.Abandon() },
		"a lease's end":   func(c *memctx.Context) { c.Retain(); c.Delete(); c.Release() },
		"parent's Delete": func(c *memctx.Context) { c.Parent().Delete() },
		"ResetChildren":   func(c *memctx.Context) { c.Parent().ResetChildren() },
	} {
		for _, n := range []int{10, 1000} { // one chunk, and several
			root := memctx.New("root")
			c := root.Child("index")
			var head *leaf
			for i := range n {
				head = bump.NewFrom(c.Bump(), leaf{i, head})
			}
			end(c)
			if strings.HasPrefix(name, "Reset") {
				bump.NewFrom(c.Bump(), leaf{key: -1})
			}
			for range 3 {
				next := memctx.New("index")
				for range n {
					bump.NewFrom(next.Bump(), leaf{key: -1})
				}
				next.Delete()
			}
			runtime.GC()
			for i := n - 1; i >= 0; i, head = i-1, head.next {
				if head.key != i {
					t.Fatalf("%s: leaf %d of %d holds %d", name, i, n, head.key)
				}
			}
		}
	}
}

// The bytes of a context that is abandoned stay charged until nobody refers to it.
func TestBumpAbandoned(t *testing.T) {
	root := memctx.New("root", memctx.Config{Limit: 1 << 20})
	defer root.Delete()
	c := root.Child("index")
	b := c.Bump()
	b.Alloc(100_000, 8)
	c.Abandon()
	b.Alloc(500_000, 8)
	next := root.Child("next").Bump()
	if _, err := next.TryAlloc(500_000, 8); !errors.Is(err, arena.ErrLimit) {
		t.Fatalf("beside what is abandoned there is room: %v", err)
	}
	runtime.KeepAlive(b)
	b, c = nil, nil
	testkit.Eventually(t, "the bytes are given back", func() bool {
		runtime.GC()
		_, err := next.TryAlloc(500_000, 8)
		return err == nil
	})
}

// A context alone ends its untyped arena; misuse names it.
func TestBumpIsTheContexts(t *testing.T) {
	root := memctx.New("root")
	c := root.Child("index", memctx.Config{Ident: "7"})
	b := c.Bump()
	text := fmt.Sprint(testkit.Panic(t, func() { b.Free() }))
	if want := `bump: Free of bump arena "index", which belongs to memory context root/index[7] and ends with it`; text != want {
		t.Errorf("Free panics with %s", text)
	}
	bump.New[leaf](b)
	b.Reset() // is the caller's word
	bump.New[leaf](b)
	root.Delete()
	text = fmt.Sprint(testkit.Panic(t, func() { bump.New[[100000]byte](b) }))
	if !strings.HasPrefix(text, `bump: New after Free of bump arena "index"`) {
		t.Errorf("New panics with %s", text)
	}
	if text = fmt.Sprint(testkit.Panic(t, func() { c.Bump() })); text != "memctx: Bump of the deleted context root/index[7]" {
		t.Errorf("Bump panics with %s", text)
	}
	var none *memctx.Context
	if none.Bump() != nil {
		t.Error("no context has untyped memory")
	}
}
