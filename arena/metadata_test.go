package arena_test

import (
	"runtime"
	"runtime/debug"
	"strconv"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// allocated returns how many bytes f takes from Go's heap, in size classes, for
// good or for a while.
func allocated(f func()) int {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// An empty arena takes at most 384 bytes, by its size and as measured.
func TestEmptyArenaSize(t *testing.T) {
	testkit.NeedsReuse(t)
	if n := unsafe.Sizeof(arena.Arena{}); n > 384 {
		t.Errorf("an Arena has %d bytes", n)
	}
	const n = 1000
	kept := make([]*arena.Arena, n)
	got := allocated(func() {
		for i := range kept {
			kept[i] = arena.NewArena(arena.Config{Name: "n"})
		}
	})
	// The chunks come later.
	if per := got / n; per > 400 {
		t.Errorf("NewArena takes %d bytes", per)
	} else {
		t.Logf("NewArena takes %d bytes", per)
	}
	runtime.KeepAlive(kept)
}

// Metadata is what an arena takes from Go's heap beyond the bytes of its chunks
// as Stats reports them: the Arena, lanes, the table, records of chunks, and
// what the heap rounds chunks up by, garbage from growing those included. Of an
// arena over 1 MB it is at most 1 %.
func TestMetadata(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	for name, fill := range map[string]func(a *arena.Arena){
		"int":       func(a *arena.Arena) { values[int](a, 1<<20/int(unsafe.Sizeof(0))) },
		"byte":      func(a *arena.Arena) { values[byte](a, 1<<20) },
		"node":      func(a *arena.Arena) { values[node](a, 1<<20/int(unsafe.Sizeof(node{}))) },
		"3 words":   func(a *arena.Arena) { values[[3]*int](a, 1<<20/int(unsafe.Sizeof([3]*int{}))) },
		"100 bytes": func(a *arena.Arena) { values[[100]byte](a, 10500) },
		"32 MB":     func(a *arena.Arena) { values[node](a, 800000) },
		"slices": func(a *arena.Arena) {
			for i := range 6000 {
				arena.MakeSlice[*int](a, i%90, i%90)
			}
		},
		"large slices": func(a *arena.Arena) {
			for range 20 {
				arena.MakeSlice[byte](a, 0, 1<<18)
			}
		},
		"strings": func(a *arena.Arena) {
			for range 20000 {
				arena.String(a, "a string of some fifty bytes, as they come in JSON")
			}
		},
		"four types": func(a *arena.Arena) {
			values[node](a, 14000)
			values[int](a, 70000)
			values[string](a, 34000)
			values[[100]byte](a, 2700)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, warm := range []bool{false, true} {
				var a *arena.Arena
				got := allocated(func() {
					a = arena.NewArena()
					fill(a)
				})
				if warm { // one chunk for each type after a Reset
					a.Reset()
					a.Trim(0)
					got = allocated(func() { fill(a) }) + int(unsafe.Sizeof(arena.Arena{}))
				}
				s := checkStats(t, a)
				if s.InUse < 1_000_000 {
					t.Fatalf("only %d bytes in use", s.InUse)
				}
				if extra := got - s.Reserved; extra*100 > s.Reserved {
					t.Errorf("warm %t: %d bytes beyond the %d of the chunks, %.2f %%", warm, extra, s.Reserved, 100*float64(extra)/float64(s.Reserved))
				} else {
					t.Logf("warm %t: %.2f %% of %d", warm, 100*float64(extra)/float64(s.Reserved), s.Reserved)
				}
			}
		})
	}
}

func values[T any](a *arena.Arena, n int) {
	for range n {
		arena.New[T](a)
	}
}

// At the start of a page each, an Arena and the lanes behind each other keep
// what New reads of the one apart from what it writes of the others. Lanes are made
// several at a time, those of a longer row behind a header.
func TestFieldsApart(t *testing.T) {
	testkit.NeedsReuse(t)
	if strconv.IntSize == 32 {
		t.Skip("sizes are for 64-bit machines")
	}
	if n := unsafe.Sizeof(arena.Arena{}); n > 384 {
		t.Errorf("an Arena takes %d bytes, want the size class of 384", n)
	}
	if arena.LaneBytes != 128 {
		t.Fatalf("a Lane takes %d bytes, want two lines of a processor's cache", arena.LaneBytes)
	}
	for _, header := range []uintptr{0, 8} {
		for lane := header; lane < 4096; lane += arena.LaneBytes {
			for _, read := range arena.Read {
				if read[0] < lane+arena.WriteTo && lane+arena.WriteFrom < read[1] {
					t.Errorf("New reads bytes %d to %d of an Arena and writes %d to %d behind the start of a page",
						read[0], read[1], lane+arena.WriteFrom, lane+arena.WriteTo)
				}
			}
		}
	}
}
