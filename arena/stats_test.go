package arena_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/chunk"
)

// checkStats fails the test if a's numbers do not add up, and returns them.
func checkStats(t testing.TB, a *arena.Arena) arena.Stats {
	t.Helper()
	s := a.Stats()
	if s.Reserved != s.InUse+s.Idle+s.Gaps {
		t.Fatalf("reserved is not in use + idle + gaps: %+v", s)
	}
	var sum arena.Stats
	for _, l := range s.Lanes {
		if l.Reserved != l.InUse+l.Idle+l.Gaps || l.InUse != l.Count*l.Size {
			t.Fatalf("lane does not add up: %+v", l)
		}
		if l.Count < 0 || l.Idle < 0 || l.Gaps < 0 || l.Chunks < 0 || l.Chunks == 0 && l.Reserved > 0 {
			t.Fatalf("lane out of range: %+v", l)
		}
		sum.InUse += l.InUse
		sum.Reserved += l.Reserved
		sum.Idle += l.Idle
		sum.Gaps += l.Gaps
		sum.Chunks += l.Chunks
	}
	if sum.InUse != s.InUse || sum.Reserved != s.Reserved || sum.Idle != s.Idle || sum.Gaps != s.Gaps || sum.Chunks != s.Chunks {
		t.Fatalf("not the sum of the lanes: %+v", s)
	}
	if s.HighWater < s.InUse {
		t.Fatalf("high-water mark below use: %+v", s)
	}
	if s.Limit > 0 && s.Reserved > s.Limit {
		t.Fatalf("reserved more than the limit: %+v", s)
	}
	return s
}

// laneStats returns the numbers of a's lane of T.
func laneStats[T any](t testing.TB, a *arena.Arena) arena.LaneStats {
	t.Helper()
	for _, l := range checkStats(t, a).Lanes {
		if l.Type == reflect.TypeFor[T]().String() {
			return l
		}
	}
	return arena.LaneStats{}
}

func TestStats(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "request", Limit: 1 << 20, FirstChunk: 512})
	if s := checkStats(t, a); s.Name != "request" || s.Limit != 1<<20 || s.Reserved != 0 || s.Chunks != 0 || len(s.Lanes) != 0 {
		t.Errorf("unused: %+v", s)
	}
	for range 10 {
		arena.New[int64](a)
	}
	arena.MakeSlice[int64](a, 3, 7)
	arena.String(a, "hello")
	s := checkStats(t, a)
	if s.InUse != 17*8+5 || s.Chunks != 2 || len(s.Lanes) != 2 || s.HighWater != s.InUse {
		t.Errorf("used: %+v", s)
	}
	if l := laneStats[int64](t, a); l.Count != 17 || l.Size != 8 || l.InUse != 136 || l.Chunks != 1 || l.Reserved != chunk.First {
		t.Errorf("lane of int64: %+v", l)
	}
	m := a.Mark()
	arena.MakeSlice[int64](a, 1000, 1000)
	peak := checkStats(t, a).InUse
	a.Release(m)
	if s := checkStats(t, a); s.InUse != 17*8+5 || s.HighWater != peak {
		t.Errorf("after Release: %+v, want a high-water mark of %d", s, peak)
	}
	a.Reset()
	a.Reset()
	if s := checkStats(t, a); s.InUse != 0 || s.Resets != 2 || s.HighWater != peak {
		t.Errorf("after Reset: %+v", s)
	}
	arena.New[int64](a)
	a.Free()
	if s := checkStats(t, a); s.Name != "request" || s.Limit != 1<<20 || s.Resets != 2 || s.HighWater != peak || s.Reserved != 0 || s.Lanes != nil {
		t.Errorf("after Free: %+v", s)
	}
	if s := (*arena.Arena)(nil).Stats(); !reflect.DeepEqual(s, arena.Stats{}) {
		t.Errorf("of a nil arena: %+v", s)
	}
}

// Gaps are what a longer slice leaves behind.
func TestStatsGaps(t *testing.T) {
	a := arena.NewArena(arena.Config{FirstChunk: 512})
	for range 10 {
		arena.New[int64](a)
	}
	n := chunk.First/8 - 5 // more than is left
	arena.MakeSlice[int64](a, 0, n)
	l := laneStats[int64](t, a)
	if l.Gaps != chunk.First-80 || l.Chunks != 2 || l.Count != 10+n {
		t.Errorf("%+v, want a gap of all but ten values of the first chunk", l)
	}
}

func TestStrings(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "q", FirstChunk: 512})
	*arena.New[int16](a) = 1
	lane := fmt.Sprintf("int16: 1 × 2 bytes in use, %d reserved, %d idle, 0 in gaps, 1 chunk", chunk.First, chunk.First-2)
	line := fmt.Sprintf(`arena "q": 2 bytes in use, %d reserved, high water 2, 1 chunk, 0 resets`, chunk.First)
	for _, c := range []struct{ got, want string }{
		{arena.LaneOf[int16](a).String(), lane},
		{a.Stats().String(), line + "\n\t" + lane},
		{a.String(), line},
		{(*arena.Arena)(nil).String(), "the nil arena"},
		{new(arena.Arena).String(), "an arena without a name: 0 bytes in use, 0 reserved, high water 0, 0 chunks, 0 resets"},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
	a.Free()
	if got := a.String(); !strings.HasSuffix(got, "(freed)") {
		t.Errorf("after Free: %s", got)
	}
}
