package stale_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// A block is memory that is released.
type block [4]*int

func (b *block) start() *byte { return (*byte)(unsafe.Pointer(b)) }

// release watches n blocks, and returns one that is kept.
//
//go:noinline
func release(name string, n int, made *leak.Site) *block {
	r := stale.Begin("thing", name, made)
	var kept *block
	for range n {
		kept = new(block)
		r.Add("block", kept.start(), int(unsafe.Sizeof(*kept)))
	}
	r.Watch()
	return kept
}

// tell collects what is told during a test.
func tell(t *testing.T) (all func() []leak.Finding) {
	var mu sync.Mutex
	var list []leak.Finding
	stale.Tell(func(f leak.Finding) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, f)
	})
	t.Cleanup(func() { stale.Tell(nil) })
	return func() []leak.Finding {
		mu.Lock()
		defer mu.Unlock()
		return append([]leak.Finding(nil), list...)
	}
}

// Without anybody who asks, what is referred to is found after some collections and
// told once; what is not is forgotten.
func TestFoundByItself(t *testing.T) {
	if !testkit.InChild(t) { // with findings of its own
		testkit.MustChild(t)
		return
	}
	all := tell(t)
	kept := release("kept", 10, leak.Here("thing", "kept"))
	for range 20 {
		release("dropped", 10, nil)
	}
	testkit.Eventually(t, "nothing waits any more", func() bool { return stale.Pending() == 0 })
	testkit.Eventually(t, "told", func() bool { return len(all()) > 0 })
	for range 5 {
		testkit.CollectGarbage()
	}
	runtime.KeepAlive(kept)
	list := all()
	if len(list) != 1 {
		t.Fatalf("%d stale pointers: %+v", len(list), list)
	}
	f := list[0]
	if f.Kind != leak.Stale || f.What != "thing" || f.Name != "kept" || f.Type != "block" || f.Chunks != 1 ||
		f.Bytes != int(unsafe.Sizeof(*kept)) || f.Count != 1 || f.Age <= 0 {
		t.Errorf("%+v", f)
	}
	if !strings.HasPrefix(f.Released, "github.com/haven-mem/haven/internal/stale_test.release(...)\n") || !strings.Contains(f.Stack, "TestFoundByItself") {
		t.Errorf("released at\n%smade at\n%s", f.Released, f.Stack)
	}
	if found := leak.All(); len(found) != 1 || found[0] != f {
		t.Errorf("findings: %+v", found)
	}
}

// It takes two whole collections, so one that follows on a release at once, or is
// under way, is not enough.
func TestPatience(t *testing.T) {
	all := tell(t)
	for range 20 {
		kept := release("patient", 1, nil)
		before := len(all())
		runtime.GC()
		if n := len(all()); n != before {
			t.Fatal("found after one collection")
		}
		runtime.KeepAlive(kept)
		kept = nil
		testkit.Eventually(t, "nothing waits any more", func() bool { return stale.Pending() == 0 })
		if n := len(all()); n != before {
			t.Fatalf("found after it was let go: %+v", all()[before:])
		}
	}
}

// What is smaller than an object of its own is left out, and a release without
// anything, or nil, is none.
func TestNothingToWatch(t *testing.T) {
	before := stale.Now()
	(*stale.Release)(nil).Watch()
	r := stale.Begin("thing", "empty", nil)
	r.Watch()
	small := new([15]byte)
	r.Add("small", &small[0], len(small))
	r.Watch()
	if stale.Now() != before {
		t.Error("watched")
	}
	runtime.KeepAlive(small)
}

// What a release had of one type is one stale pointer.
func TestPiecesByType(t *testing.T) {
	r := stale.Begin("thing", "two types", nil)
	var kept []*block
	for i, typ := range []string{"red", "blue", "red", "red", "blue", "gone"} {
		b := new(block)
		r.Add(typ, b.start(), int(unsafe.Sizeof(*b)))
		if i < 5 {
			kept = append(kept, b)
		}
	}
	first := stale.Now()
	r.Watch()
	list, _ := stale.Since(first)
	runtime.KeepAlive(kept)
	var got []string
	for _, f := range list {
		got = append(got, fmt.Sprintf("%s: %d pieces, %d bytes", f.Type, f.Chunks, f.Bytes))
	}
	size := int(unsafe.Sizeof(block{}))
	want := []string{fmt.Sprintf("red: 3 pieces, %d bytes", 3*size), fmt.Sprintf("blue: 2 pieces, %d bytes", 2*size)}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Since gives each stale pointer to everybody who asks for it, and of releases after the
// number only.
func TestSince(t *testing.T) {
	first := stale.Now()
	a := release("a", 3, nil)
	second := stale.Now()
	b := release("b", 1, nil)
	names := func(serial uint64) string {
		list, last := stale.Since(serial)
		if last != stale.Now() {
			t.Errorf("seen to %d of %d releases", last, stale.Now())
		}
		var s []string
		for _, f := range list {
			s = append(s, fmt.Sprint(f.Name, f.Chunks))
		}
		return strings.Join(s, " ")
	}
	for range 2 {
		if got := names(second); got != "b1" {
			t.Errorf("since the second: %s", got)
		}
		if got := names(first); got != "a1 b1" {
			t.Errorf("since the first: %s", got)
		}
		if got := names(stale.Now()); got != "" {
			t.Errorf("since now: %s", got)
		}
	}
	runtime.KeepAlive(a)
	runtime.KeepAlive(b)
}

// A program that does not collect has a bound of what waits.
func TestPendingIsBounded(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOGC=off")
		return
	}
	for range stale.MaxPending + 100 {
		release("many", 1, nil)
	}
	if n := stale.Pending(); n != stale.MaxPending {
		t.Errorf("%d releases wait", n)
	}
	if list, _ := stale.Since(0); len(list) != 0 || stale.Pending() != 0 {
		t.Errorf("%d stale pointers, %d releases wait", len(list), stale.Pending())
	}
}

// Many goroutines release, ask and collect.
func TestConcurrent(t *testing.T) {
	first := stale.Now()
	stop := testkit.Hammer()
	var wg sync.WaitGroup
	kept := make([]*block, 8)
	for g := range kept {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 200 {
				p := release(fmt.Sprint("goroutine ", g), 3, nil)
				if i == 100 {
					kept[g] = p
				}
				if i%50 == 0 {
					stale.Since(first)
				}
			}
		}()
	}
	wg.Wait()
	stop()
	list, _ := stale.Since(first)
	if len(list) != len(kept) {
		t.Errorf("%d stale pointers, want %d", len(list), len(kept))
	}
	runtime.KeepAlive(kept)
}

// String and List say all there is.
func TestText(t *testing.T) {
	f := leak.Finding{Kind: leak.Stale, What: "arena", Name: "request", Type: "main.node", Count: 3, Chunks: 2, Bytes: 100, Released: "main.f(...)\n\tf.go:1\n"}
	want := "3 × arena \"request\": something still points into 2 chunks of main.node, 100 bytes, released at\nmain.f(...)\n\tf.go:1\n"
	if got := f.String(); got != want {
		t.Errorf("%s", got)
	}
	f.Stack, f.Name = "main.g(...)\n\tg.go:2\n", ""
	if got := f.String(); !strings.HasPrefix(got, "3 × arena: something ") || !strings.HasSuffix(got, "f.go:1\nmade at\nmain.g(...)\n\tg.go:2\n") {
		t.Errorf("%s", got)
	}
	for _, n := range []int{1, 20, 21, 100} {
		got, first := stale.List(make([]leak.Finding, n)), fmt.Sprintf("%d stale pointers:\n", n)
		if n == 1 {
			first = "1 stale pointer:\n"
		}
		if !strings.HasPrefix(got, first) || strings.Count(got, "×") != min(n, 20) ||
			strings.HasSuffix(got, fmt.Sprintf("\n… and %d more", n-20)) != (n > 20) {
			t.Errorf("%d: %s", n, got)
		}
	}
}
