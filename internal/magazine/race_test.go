package magazine_test

import (
	"runtime"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
)

// A turn says whose turn it is, without the race detector knowing: what happens
// before a set is not known to happen before the wait for it.
type turn struct{ n int }

//go:norace
func (t *turn) set(n int) { t.n = n }

//go:norace
func (t *turn) get() int { return t.n }

func (t *turn) wait(n int) {
	for t.get() != n {
		runtime.Gosched()
	}
}

// TestRaceHandOver has magazines go from one goroutine to another through a cell
// alone, of which the race detector must report nothing.
func TestRaceHandOver(t *testing.T) {
	if !magazine.Race {
		t.Skip("the race detector is not in this build: run with -race")
	}
	for name, take := range map[string]func(s *magazine.Set) *magazine.Magazine{
		"Install": func(s *magazine.Set) *magazine.Magazine {
			put(s, 0)
			c := cell(s)
			defer c.Leave()
			return c.Install(magazine.New(1))
		},
		"Settle": func(s *magazine.Set) *magazine.Magazine {
			s.Retire()
			s.Settle()
			return s.Settle()[0]
		},
		"Reclaim": func(s *magazine.Set) *magazine.Magazine {
			s.Retire()
			return s.Reclaim()[0]
		},
	} {
		t.Run(name, func(t *testing.T) {
			onOneP(t)
			var s magazine.Set
			s.Open() // else the lock of Open would hand over
			var next turn
			done := make(chan bool)
			go func() {
				put(&s, 5)
				next.set(1)
				<-done
			}()
			next.wait(1)
			if n := len(take(&s).Objects()); n != 5 {
				t.Errorf("%d objects were handed over, want 5", n)
			}
			done <- true
		})
	}
}
