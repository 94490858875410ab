package arena_test

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// What a fresh arena takes from Go's heap is counted in objects.
func TestFreshAllocs(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	type own struct{ next *own }
	for _, c := range []struct {
		objects int
		want    float64
	}{{0, 1}, {1, 2}, {5, 2}, {100, 2}} {
		round := func() {
			a := arena.NewArena()
			for range c.objects {
				arena.New[own](a)
			}
			kept = a
		}
		for range 20 { // until the hint has risen
			round()
		}
		if got := testing.AllocsPerRun(100, round); got != c.want {
			t.Errorf("an arena of %d objects takes %v allocations, want %v", c.objects, got, c.want)
		}
	}
	kept = nil
}

var kept *arena.Arena

// FirstChunk is honoured as it is given, but for the header of Go's heap.
func TestFirstChunk(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("sizes are for 64-bit machines")
	}
	for _, c := range []struct{ given, want int }{
		{1, 8}, {8, 8}, {16, 16}, {100, 96}, {256, 256}, {512, 512}, {520, 512}, {1024, 1016}, {4096, 4088}, {32 << 10, 32 << 10},
	} {
		a := arena.NewArena(arena.Config{FirstChunk: c.given})
		arena.New[int64](a)
		if n := a.Stats().Reserved; n != c.want {
			t.Errorf("with a FirstChunk of %d, %d bytes are reserved, want %d", c.given, n, c.want)
		}
		arena.New[[100]int64](arena.NewArena(arena.Config{FirstChunk: c.given}))[99] = 1
	}
}

// firstOf returns the bytes of the first chunk of a fresh arena's lane of T.
func firstOf[T any]() int {
	a := arena.NewArena()
	arena.New[T](a)
	return a.Stats().Reserved
}

// The first chunk of a type has what fresh arenas needed lately: it rises with the first
// arenas that need more, up to 4 KiB, and sinks with the garbage collections.
func TestHints(t *testing.T) {
	testkit.NeedsReuse(t)
	type own struct{ a, b int }
	const size = int(unsafe.Sizeof(own{}))
	sunk := func() bool { return firstOf[own]() <= 128 }
	testkit.Eventually(t, "hint at its least", func() bool { testkit.CollectGarbage(); return sunk() })
	for _, n := range []int{60, 1000} {
		want := min(size*n, 4000)
		for range 20 {
			values[own](arena.NewArena(), n)
		}
		if got := firstOf[own](); got < want || got > max(4096, want*5/4+16) {
			t.Errorf("after arenas of %d bytes the first chunk has %d", size*n, got)
		}
	}
	a := arena.NewArena(arena.Config{FirstChunk: 64})
	if values[own](a, 1); a.Stats().Reserved != 64 {
		t.Errorf("%d bytes reserved, want the 64 of FirstChunk", a.Stats().Reserved)
	}
	testkit.Eventually(t, "hint at its least", func() bool { testkit.CollectGarbage(); return sunk() })
	// Arenas that know their peak neither ask the hint nor make it rise.
	a = arena.NewArena(arena.Config{FirstChunk: 16})
	for range 20 {
		values[own](a, 500)
		a.Reset()
	}
	if !sunk() {
		t.Errorf("after Resets the first chunk of others has %d bytes", firstOf[own]())
	}
}

// A lane that stays open over a Reset keeps nothing that could go.
func TestOpenLanesAreIdle(t *testing.T) {
	for _, between := range []func(a *arena.Arena){
		func(a *arena.Arena) { a.Trim(0) },
		func(a *arena.Arena) { // the chunk of int has to go, behind the back of a Mark
			m := a.Mark()
			arena.MakeSlice[byte](a, 9000, 9000)
			a.Release(m)
		},
	} {
		a := arena.NewArena(arena.Config{Limit: 10_000, FirstChunk: 8000})
		for range 5 {
			*arena.New[int](a) = 7
			a.Reset()
			between(a)
			if l := laneStats[int](t, a); l.Reserved != 0 || l.Chunks != 0 {
				t.Fatalf("an idle lane has %d bytes", l.Reserved)
			}
			a.Reset()
			if p := arena.New[int](a); *p != 0 {
				t.Fatalf("New holds %d", *p)
			}
			a.Reset()
		}
	}
}

// A lane that is Reset by itself while it is open and holds nothing stays in the list of
// those that its arena resets.
func TestLaneResetTwice(t *testing.T) {
	a := arena.NewArena()
	l := arena.LaneOf[int](a)
	for range 3 {
		*l.New() = 1
		*arena.New[string](a) = "dirt"
		a.Reset()
		l.Reset()
		l.Reset()
		*l.New() = 1
		*arena.New[string](a) = "dirt"
		a.Reset()
		if s := checkStats(t, a); s.InUse != 0 {
			t.Fatalf("%d bytes in use after Reset", s.InUse)
		}
		if p := l.New(); *p != 0 {
			t.Fatalf("New holds %d", *p)
		}
		a.Reset()
	}
}

// In a Pool allocating panics in each way there is, and out of it none does. An arena
// whose lanes somebody has by themselves comes to rest in another way.
func TestParked(t *testing.T) {
	onOneP(t)
	for _, lent := range []bool{false, true} {
		p := arena.NewPool(arena.Config{Name: "w"})
		a := p.Get()
		uses := map[string]func(){
			"New":       func() { arena.New[int](a) },
			"New of 2":  func() { arena.New[node](a) },
			"MakeSlice": func() { arena.MakeSlice[int](a, 1, 1) },
			"Append":    func() { arena.Append(a, []int(nil), 1) },
			"String":    func() { arena.String(a, "text") },
		}
		if lent {
			l := arena.LaneOf[string](a)
			uses["NewOf"] = func() { arena.NewOf(a, reflect.TypeFor[node]()) }
			uses["a Lane's New"] = func() { l.New() }
			uses["a Lane's MakeSlice"] = func() { l.MakeSlice(1, 1) }
		}
		for range 3 {
			for _, use := range uses {
				use()
			}
			p.Put(a)
			for name, use := range uses {
				if text := fmt.Sprint(testkit.Panic(t, use)); !strings.Contains(text, "after Put into its Pool") {
					t.Errorf("lent %t: %s after Put: %s", lent, name, text)
				}
			}
			if b := p.Get(); b != a {
				t.Fatal("the pool has another arena")
			}
			checkStats(t, a)
		}
	}
}
