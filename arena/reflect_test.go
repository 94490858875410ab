package arena_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestNewOf(t *testing.T) {
	types := []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[node](),
		reflect.TypeFor[map[string]int](), reflect.TypeFor[any](), reflect.TypeFor[func()](),
		reflect.TypeFor[struct{}](), reflect.TypeFor[[9999]*int](), reflect.TypeFor[chan int](),
	}
	onEach(t, func(t *testing.T, a *arena.Arena) {
		for _, typ := range types {
			seen := map[any]bool{} // holds the pointers, so that none comes twice
			for range 100 {
				v := arena.NewOf(a, typ)
				if v.Type() != reflect.PointerTo(typ) || !v.Elem().IsZero() {
					t.Fatalf("NewOf(%v): %v of type %v", typ, v.Elem(), v.Type())
				}
				if typ.Size() > 0 && seen[v.Interface()] {
					t.Fatalf("NewOf(%v) returned one address twice", typ)
				}
				seen[v.Interface()] = true
				if typ.Kind() == reflect.Struct && typ.NumField() > 0 {
					v.Elem().Set(reflect.ValueOf(node{name: "x", left: &node{}}))
				}
			}
		}
	})
}

// A lane of a type known at run time takes part in limits like any other, also
// when not even its first chunk fits.
func TestNewOfLimit(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "small", Limit: 1000})
	typ := reflect.TypeFor[[300]uint64]()
	for range 3 {
		err := limitPanic(t, func() { arena.NewOf(a, typ) })
		if want := (arena.LimitError{Name: "small", Limit: 1000, Requested: 2400}); !reflect.DeepEqual(*err, want) {
			t.Fatalf("%+v, want %+v", *err, want)
		}
		checkStats(t, a)
		a.Reset()
	}
	arena.NewOf(a, reflect.TypeFor[int]()).Elem().SetInt(5)
	checkStats(t, a)
}

// limitPanic runs f and returns the *LimitError it panics with.
func limitPanic(t *testing.T, f func()) (le *arena.LimitError) {
	t.Helper()
	defer func() {
		err, _ := recover().(error)
		if !errors.Is(err, arena.ErrLimit) || !errors.As(err, &le) {
			t.Fatalf("panicked with %v, want a *LimitError", err)
		}
	}()
	f()
	return nil
}

// A steady program allocates nothing, its scopes included.
func TestNewOfSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	a := arena.NewArena()
	typ := reflect.TypeFor[node]()
	if n := testing.AllocsPerRun(100, func() {
		for range 100 {
			arena.NewOf(a, typ)
		}
		m := a.Mark()
		for range 1000 {
			arena.NewOf(a, typ)
		}
		a.Release(m)
		a.Reset()
	}); n != 0 {
		t.Errorf("%v allocs/op, want 0", n)
	}
}

// A dynamic lane merges its chunks and forgets a peak like the others.
func TestNewOfRetention(t *testing.T) {
	a := arena.NewArena()
	typ := reflect.TypeFor[node]()
	round := func(n int) arena.Stats {
		for range n {
			arena.NewOf(a, typ)
		}
		s := a.Stats()
		a.Reset()
		checkStats(t, a)
		return s
	}
	if s := round(20000); s.Chunks < 3 {
		t.Errorf("first round took %d chunks", s.Chunks)
	}
	if s := round(20000); s.Chunks != 1 {
		t.Errorf("second round took %d chunks, want 1", s.Chunks)
	}
	for range 3 {
		testkit.CountCollections(1)
		round(10)
	}
	if r := a.Stats().Reserved; r > 8<<10 {
		t.Errorf("three collections after the peak %d bytes are reserved", r)
	}
	round(10)
	a.Trim(0)
	if r := a.Stats().Reserved; r != 0 {
		t.Errorf("%d bytes reserved after Trim(0)", r)
	}
}

// NewOf on a copy panics, and leaves the original as it was.
func TestNewOfOnCopy(t *testing.T) {
	a := arena.NewArena()
	arena.NewOf(a, reflect.TypeFor[int]())
	c := copyOf(a)
	mustPanic(t, func() { arena.NewOf(c, reflect.TypeFor[string]()) })
	arena.NewOf(a, reflect.TypeFor[string]()).Elem().SetString("fine")
	checkStats(t, a)
}

// copyOf makes the copy of an arena that go vet would report.
func copyOf[T any](p *T) *T {
	c := reflect.New(reflect.TypeFor[T]())
	c.Elem().Set(reflect.ValueOf(p).Elem())
	return c.Interface().(*T)
}

func mustPanic(t *testing.T, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	f()
}
