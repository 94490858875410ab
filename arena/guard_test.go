//go:build !haven_check && !asan && !msan

package arena_test

import (
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/testkit"
)

// explained returns the explanation of the fault that f takes, or nil.
func explained(f func()) (r *check.Report) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { r = check.Explain(recover()) }()
	f()
	return nil
}

type plain struct{ a, b int64 }

// onPages returns an arena whose chunk of plain values lies on pages of its own.
func onPages(t *testing.T, conf ...arena.Config) *arena.Arena {
	t.Helper()
	testkit.Guard(t, 1, 200)
	a := arena.NewArena(conf...)
	arena.New[plain](a)
	a.Reset()
	if p := arena.New[plain](a); !guard.Within(unsafe.Pointer(p)) {
		if strings.Contains("linux darwin", runtime.GOOS) {
			t.Fatal("not on pages of its own")
		}
		t.Skip("no pages")
	}
	return a
}

// A chunk that was guarded loses its access at the next Reset, also if nobody watches
// that one.
func TestGuardOnce(t *testing.T) {
	a := onPages(t)
	p := arena.New[plain](a)
	if err := guard.Set(0, 0); err != nil {
		t.Fatal(err)
	}
	a.Reset()
	if r := explained(func() { p.a++ }); r == nil || r.What != "use after release" {
		t.Errorf("a write after the Reset: %v", r)
	}
}

// The numbers of an arena are the same with the guard and without.
func TestGuardStats(t *testing.T) {
	var stats [2][]string
	for on := range 2 {
		if on == 1 {
			testkit.Guard(t, 1, 200)
		}
		a := arena.NewArena(arena.Config{Retain: 1 << 20, FirstChunk: 512}) // as hints rise
		for i := range 60 {
			for range i * 7 % 50 {
				arena.New[plain](a)
				arena.New[node](a)
				arena.NewOf(a, reflect.TypeFor[[3]*int]())
			}
			m := a.Mark()
			arena.MakeSlice[plain](a, i*i, i*i)
			arena.String(a, "some text")
			if i%3 == 0 {
				a.Release(m)
			}
			stats[on] = append(stats[on], a.Stats().String())
			a.Reset()
			stats[on] = append(stats[on], a.Stats().String())
			if i%20 == 19 {
				a.Trim(0)
			}
		}
	}
	for i, s := range stats[0] {
		if stats[1][i] != s {
			t.Fatalf("step %d: %s\nwith the guard: %s", i, s, stats[1][i])
		}
	}
}

// Values on pages of their own stay valid after Free, and when an arena is dropped.
func TestGuardFree(t *testing.T) {
	for _, end := range []func(*arena.Arena){
		func(a *arena.Arena) { a.Free() },
		func(a *arena.Arena) {},
	} {
		a := onPages(t)
		p := arena.New[plain](a)
		p.b = 7
		end(a)
		a = nil
		runtime.GC()
		guard.Set(0, 0)
		if r := explained(func() { p.b++ }); r != nil || p.b != 8 {
			t.Errorf("%v, %v", r, *p)
		}
	}
}

// Chunks that an arena lets go while they hold nothing leave their slots to others.
func TestGuardTrim(t *testing.T) {
	for range 2 * guard.MaxSlots {
		a := onPages(t)
		a.Reset()
		a.Trim(0)
		a.Free()
	}
}

// What has pointers stays where the collector sees them.
func TestGuardPointers(t *testing.T) {
	testkit.Guard(t, 1, 200)
	a := arena.NewArena()
	for range 10 {
		n := arena.New[node](a)
		if guard.Within(unsafe.Pointer(n)) {
			t.Fatal("a chunk with pointers lies outside of Go's heap")
		}
		n.left = &node{key: 7}
		runtime.GC()
		if n.left.key != 7 {
			t.Fatal("what a chunk refers to is gone")
		}
		a.Reset()
	}
}

// The chunk has no access from the Reset on, wherever Marks and slices put it in between.
func TestGuardAfterMarks(t *testing.T) {
	for name, use := range map[string]func(a *arena.Arena){
		"nothing":              func(*arena.Arena) {},
		"a second chunk":       func(a *arena.Arena) { arena.MakeSlice[plain](a, 3000, 3000); fillPlain(a) },
		"a Mark and a Release": func(a *arena.Arena) { m := a.Mark(); fillPlain(a); a.Release(m) },
	} {
		a := onPages(t)
		p := arena.New[plain](a)
		p.a = 1
		use(a)
		if p.a != 1 {
			t.Fatalf("%s: changed", name)
		}
		a.Reset()
		if r := explained(func() { p.a++ }); r == nil || r.What != "use after release" || r.Released == "" {
			t.Errorf("%s: %v", name, r)
		}
	}
}

func fillPlain(a *arena.Arena) {
	for range 5000 {
		arena.New[plain](a)
	}
}

// A release of guarded chunks that is watched for stale pointers has no weak pointers to them.
func TestGuardAndStale(t *testing.T) {
	if os.Getenv("HAVEN_STALE") != "" {
		t.Skip("the environment says who is watched")
	}
	a := onPages(t)
	check.VerifyNoStale(t)
	for range 10 {
		arena.New[plain](a)
		arena.New[node](a)
		a.Reset()
	}
}
