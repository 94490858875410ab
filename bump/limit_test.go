package bump_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// A limit holds for all chunks together, is used up to the last chunk that fits, and
// leaves the arena as it was.
func TestLimit(t *testing.T) {
	for _, limit := range []int{1, 511, 512, 513, 10_000, 1 << 20} {
		a := bump.NewArena(bump.Config{Name: "index", Limit: limit})
		for range 2 { // before and after a Reset
			n, last := 0, (*[64]byte)(nil)
			for {
				p, err := bump.TryNew[[64]byte](a)
				if err == nil {
					n, last = n+1, p
					p[0] = 7
					continue
				}
				var le *bump.LimitError
				if !errors.As(err, &le) || !errors.Is(err, bump.ErrLimit) {
					t.Fatalf("%v", err)
				}
				want := bump.LimitError{Name: "index", Limit: limit, Used: a.Stats().Reserved, Requested: le.Requested}
				if *le != want || le.Requested < 64 {
					t.Errorf("%#v, want %#v", *le, want)
				}
				text := fmt.Sprintf(`bump: bump arena "index" reached its limit: %d bytes requested, %d of %d bytes in chunks`, le.Requested, le.Used, limit)
				if err.Error() != text {
					t.Errorf("%q, want %q", err, text)
				}
				break
			}
			s := a.Stats()
			if s.Reserved > limit || s.Limit != limit || s.Name != "index" {
				t.Errorf("%d bytes in a limit of %d: %+v", s.Reserved, limit, s)
			}
			if limit >= 10_000 && n*64 < limit/4 { // red zones and sanitizers take their part
				t.Errorf("%d values in a limit of %d", n, limit)
			}
			if last != nil && last[0] != 7 {
				t.Error("an error changes what was allocated")
			}
			if _, err := a.TryAlloc(uintptr(limit)+1, 8); !errors.Is(err, bump.ErrLimit) {
				t.Errorf("Alloc of more than the limit: %v", err)
			}
			if _, err := bump.TryMakeSlice[int64](a, 0, limit); !errors.Is(err, bump.ErrLimit) {
				t.Errorf("MakeSlice of more than the limit: %v", err)
			}
			if err, _ := testkit.Panic(t, func() { bump.MakeSlice[int64](a, 0, limit) }).(error); !errors.Is(err, bump.ErrLimit) {
				t.Errorf("MakeSlice panics with %v", err)
			}
			a.Reset()
			checkSum(t, "after Reset", a.Stats())
		}
	}
}

// Retain says how large a chunk may stay over a Reset.
func TestRetain(t *testing.T) {
	testkit.NeedsReuse(t)
	for _, c := range []struct {
		retain int
		keeps  bool
	}{{-1, false}, {10_000, false}, {1 << 20, true}, {0, true}} {
		a := bump.NewArena(bump.Config{Retain: c.retain})
		for range 3 {
			a.Alloc(100_000, 8)
			a.Reset()
		}
		if got := a.Stats().Reserved > 0; got != c.keeps {
			t.Errorf("Retain %d: after Reset %v", c.retain, a)
		}
		checkSum(t, "after Reset", a.Stats())
	}
}

func TestConfigMisuse(t *testing.T) {
	for want, f := range map[string]func(){
		"bump: Config.Limit is -1: want a number of bytes, 0 (no bound) or more":              func() { bump.NewArena(bump.Config{Limit: -1}) },
		"bump: Config.Retain is -5: want a number of bytes, 0 (the default), or -1 (nothing)": func() { bump.NewArena(bump.Config{Retain: -5}) },
		"bump: NewArena: 2 structs of settings: want one, or none":                            func() { bump.NewArena(bump.Config{}, bump.Config{}) },
	} {
		if got := fmt.Sprint(testkit.Panic(t, f)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	a := bump.NewArena(bump.Config{Name: "n"})
	a.Free()
	if text := fmt.Sprint(testkit.Panic(t, func() { a.Reset() })); !strings.HasPrefix(text, `bump: Reset after Free of bump arena "n" (freed, `) {
		t.Errorf("Reset panics with %s", text)
	}
}
