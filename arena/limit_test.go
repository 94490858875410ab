package arena_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"testing"

	"github.com/haven-mem/haven/arena"
)

func TestLimit(t *testing.T) {
	const limit = 10000
	type kilo [1000]byte
	a := arena.NewArena(arena.Config{Name: "bounded", Limit: limit})
	var ps []*kilo
	for {
		p, err := arena.TryNew[kilo](a)
		if err != nil {
			want := arena.LimitError{Name: "bounded", Limit: limit, Used: checkStats(t, a).Reserved, Requested: 1000}
			var le *arena.LimitError
			if !errors.Is(err, arena.ErrLimit) || !errors.As(err, &le) || !reflect.DeepEqual(*le, want) {
				t.Fatalf("TryNew: %#v, want %#v", err, want)
			}
			if p != nil {
				t.Error("TryNew returned a value with its error")
			}
			break
		}
		p[0] = byte(len(ps))
		ps = append(ps, p)
		checkStats(t, a)
	}
	// Chunks grow until the rest of the limit is all there is for the last.
	if len(ps) < 8 {
		t.Errorf("%d values of 1000 bytes in a limit of %d", len(ps), limit)
	}
	if err := limitPanic(t, func() { arena.New[kilo](a) }); err.Requested != 1000 {
		t.Errorf("New: %v", err)
	}
	if err := limitPanic(t, func() { arena.LaneOf[kilo](a).New() }); err.Requested != 1000 {
		t.Errorf("Lane.New: %v", err)
	}
	if err := limitPanic(t, func() { arena.MakeSlice[kilo](a, 0, 50) }); err.Requested != 50000 {
		t.Errorf("MakeSlice: %v", err)
	}
	if s, err := arena.TryMakeSlice[kilo](a, 0, 50); s != nil || err.(*arena.LimitError).Requested != 50000 {
		t.Errorf("TryMakeSlice: %v", err)
	}
	if err := limitPanic(t, func() { arena.Append(a, make([]kilo, 10), kilo{}) }); err.Requested != 20000 {
		t.Errorf("Append: %v", err)
	}
	if err := limitPanic(t, func() { arena.Push(a, make([]kilo, 10), kilo{}) }); err.Requested != 20000 {
		t.Errorf("Push: %v", err)
	}
	limitPanic(t, func() { arena.String(a, make([]byte, limit+1)) })
	three := make([]kilo, 3)
	if s, err := arena.TryAppend(a, three, make([]kilo, 9)...); len(s) != 3 || &s[0] != &three[0] || err.(*arena.LimitError).Requested != 12000 {
		t.Errorf("TryAppend: %d elements, %v", len(s), err)
	}
	if s, err := arena.TryString(a, make([]byte, limit+1)); s != "" || err.(*arena.LimitError).Requested != limit+1 {
		t.Errorf("TryString: %q, %v", s, err)
	}
	// It stays usable, and what it holds is intact.
	for i, p := range ps {
		if p[0] != byte(i) {
			t.Errorf("value %d holds %d", i, p[0])
		}
	}
	for range 5 {
		a.Reset()
		for range 8 {
			if p := arena.New[kilo](a); *p != (kilo{}) {
				t.Fatal("not zero")
			} else {
				p[5] = 1
			}
		}
		checkStats(t, a)
	}
}

// Under a limit, memory that lies idle in one lane makes room for another.
func TestLimitReclaimsIdle(t *testing.T) {
	a := arena.NewArena(arena.Config{Limit: 100000})
	for range 3 {
		arena.MakeSlice[int64](a, 0, 11000)
		a.Reset()
		arena.MakeSlice[string](a, 0, 90000/stringSize)
		a.Reset()
		m := a.Mark()
		for range 5000 {
			arena.New[float64](a)
		}
		a.Release(m)
		arena.MakeSlice[int32](a, 0, 22000)
		checkStats(t, a)
		a.Reset()
	}
	// Idle memory beside values and in the way of an open Mark goes as well,
	// and the values stay.
	a = arena.NewArena(arena.Config{Limit: 100000})
	p := arena.NewFrom(a, int64(5))
	m := a.Mark()
	inner := a.Mark()
	arena.MakeSlice[int64](a, 0, 5000)
	for range 4000 {
		arena.New[int64](a)
	}
	a.Release(inner)
	b := arena.MakeSlice[byte](a, 95000, 95000)
	b[0] = 1
	a.Release(m)
	if *p != 5 {
		t.Errorf("value is %d", *p)
	}
	*arena.New[int64](a) = 6
	if *p != 5 {
		t.Errorf("value is %d", *p)
	}
	checkStats(t, a)
}

const stringSize = 2 * strconv.IntSize / 8

// A limit below the chunk that growth would like still serves small values.
func TestLimitBelowAChunk(t *testing.T) {
	a := arena.NewArena(arena.Config{Limit: 100})
	n := 0
	for {
		if _, err := arena.TryNew[int64](a); err != nil {
			break
		}
		n++
	}
	if n != 12 {
		t.Errorf("%d values of 8 bytes in a limit of 100", n)
	}
}

// No limit is 0; a limit fits exactly.
func TestLimitExact(t *testing.T) {
	for range 2 {
		a := arena.NewArena(arena.Config{Limit: 4096})
		if _, err := arena.TryMakeSlice[byte](a, 4096, 4096); err != nil {
			t.Error(err)
		}
		if _, err := arena.TryMakeSlice[byte](a, 1, 1); err == nil {
			t.Error("no error one byte above the limit")
		}
	}
	arena.MakeSlice[byte](arena.NewArena(arena.Config{Limit: 0}), 1<<20, 1<<20)
}

func TestLimitErrorText(t *testing.T) {
	err := &arena.LimitError{Name: "q", Limit: 10, Used: 3, Requested: 8}
	if got, want := err.Error(), `arena: arena "q" reached its limit: 8 bytes requested, 3 of 10 bytes in chunks`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if errors.Is(err, errors.ErrUnsupported) || !errors.Is(fmt.Errorf("wrapped: %w", err), arena.ErrLimit) {
		t.Error("errors.Is")
	}
	if err.Name = ""; err.Error() != "arena: an arena without a name reached its limit: 8 bytes requested, 3 of 10 bytes in chunks" {
		t.Error(err)
	}
}
