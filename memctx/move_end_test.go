package memctx_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A callback moves what is above a context that ends, and that has abandoned ones
// below: from first to last, whatever they have is counted in one place, and is given
// back there. What the context and those below it held when it was gone stays where
// it was.
func TestSetParentInCallback(t *testing.T) {
	const left = 40_000
	type place struct{ x, y, z *memctx.Context } // two with limits below one, and one without
	in := func(name string, p place) *memctx.Context {
		return map[string]*memctx.Context{"x": p.x, "y": p.y, "z": p.z, "no context": nil}[name]
	}
	for _, route := range [][]string{
		{"x", "y"}, {"x", "no context"}, {"x", "z"}, {"z", "x"}, {"no context", "x"},
		{"x", "y", "x"}, {"x", "z", "y"}, {"z", "x", "y"}, {"x", "no context", "x"},
	} {
		for _, when := range []string{"before", "after"} { // the context is gone
			for _, conf := range []memctx.Config{{}, {Limit: 1 << 19}, {Reserve: 10_000}, {Reserve: 70_000}} {
				title := fmt.Sprintf("%v, %s, %+v", route, when, conf)
				top := memctx.New("top", memctx.Config{Limit: 1 << 20})
				p := place{top.Child("tenant", memctx.Config{Limit: 1 << 19}), top.Child("tenant", memctx.Config{Limit: 1 << 19, Reserve: 90_000}), memctx.New("tenant")}
				alone := memctx.Taken(top)
				func() {
					job := memctx.New("job")
					if err := job.SetParent(in(route[0], p)); err != nil {
						t.Fatal(err)
					}
					stage := job.Child("stage", conf)
					lost := stage.Child("lost")
					fill(t, lost, left)
					fill(t, job, 3000)
					fill(t, stage, 5000)
					lost.Abandon()
					move := func() {
						for _, name := range route[1:] {
							if err := job.SetParent(in(name, p)); err != nil {
								t.Errorf("%s: %v", title, err)
							}
						}
					}
					if when == "before" {
						stage.OnReset(move)
					} else {
						stage.Arena().OnReset(move)
					}
					stage.Delete()
					if job.Parent() != in(route[len(route)-1], p) {
						t.Errorf("%s: it is %s", title, job.Path())
					}
					checkAll(t, top, p.z, job, stage, lost)
					arena.New[[2000]byte](lost.Arena()) // is counted where the rest is
					checkAll(t, top, p.z, job, stage, lost)
					job.Delete()
					checkAll(t, top, p.z, job, stage, lost)
				}()
				testkit.Eventually(t, title+": what the abandoned context had is given back", func() bool {
					return memctx.Taken(top) <= alone && memctx.Taken(p.x) <= 0 && memctx.Taken(p.y) <= 0
				})
				if a, b, c := memctx.Taken(top), memctx.Taken(p.x), memctx.Taken(p.y); a != alone || b != 0 || c != 0 {
					t.Errorf("%s: in the end %d, %d and %d bytes are counted, want %d, 0 and 0", title, a, b, c, alone)
				}
				checkAll(t, top, p.z)
				p.z.Delete()
				top.Delete()
			}
		}
	}
}

// The limit that was moved away from holds as before.
func TestSetParentInCallbackKeepsLimit(t *testing.T) {
	top := memctx.New("top", memctx.Config{Limit: 1 << 20})
	defer top.Delete()
	func() {
		job := top.Child("job")
		stage := job.Child("stage", memctx.Config{Limit: 1 << 20})
		lost := stage.Child("lost")
		fill(t, lost, 600_000)
		lost.Abandon()
		stage.Arena().OnReset(func() {
			if err := job.SetParent(nil); err != nil {
				t.Error(err)
			}
		})
		stage.Delete()
		if _, err := arena.TryMakeSlice[byte](top.Arena(), 600_000, 600_000); !isLimit(err) {
			t.Errorf("error %v, with 600000 bytes left behind of 1048576", err)
		}
		job.Delete()
		runtime.KeepAlive(lost)
	}()
	testkit.Eventually(t, "what the abandoned context had is given back", func() bool { return memctx.Taken(top) <= 0 })
	for _, n := range []int{1_500_000, 1<<20 + 1} {
		if _, err := arena.TryMakeSlice[byte](top.Arena(), n, n); !isLimit(err) {
			t.Errorf("error %v for %d bytes below a limit of 1048576", err, n)
		}
	}
	fill(t, top, 1<<20)
	checkAll(t, top)
}

// Jobs move while stages below them end, each of which has abandoned ones below: a
// mover for each job, and one who ends its stages. When all have come to their end
// the sums are what they were.
func TestSetParentMeetsClaims(t *testing.T) {
	rounds := fewer(300, 60)
	top := memctx.New("top", memctx.Config{Limit: 1 << 30})
	defer top.Delete()
	x, y := top.Child("tenant", memctx.Config{Limit: 1 << 29}), top.Child("tenant", memctx.Config{Reserve: 50_000})
	z := memctx.New("tenant")
	defer z.Delete()
	alone := memctx.Taken(top)
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range rounds {
				job := x.Child("job")
				stages := make([]*memctx.Context, 20)
				for k := range stages {
					var conf memctx.Config
					if k%2 == 0 {
						conf.Reserve = 700 * (k % 4)
						conf.Limit = 1 << 20
					}
					stages[k] = job.Child("stage", conf)
					arena.MakeSlice[byte](stages[k].Arena(), 1000, 1000)
					stages[k].Arena().OnReset(runtime.Gosched) // it is gone, and still in the tree
					lost := stages[k].Child("lost")
					arena.MakeSlice[byte](lost.Arena(), 1000+i, 1000+i)
					lost.Abandon()
				}
				var done atomic.Bool
				var moves sync.WaitGroup
				moves.Add(1)
				go func() {
					defer moves.Done()
					for n := 0; !done.Load(); n++ {
						if err := job.SetParent([]*memctx.Context{y, nil, x, z}[n%4]); err != nil {
							t.Error(err)
						}
						runtime.Gosched()
					}
				}()
				for _, c := range stages {
					c.Delete()
				}
				done.Store(true)
				moves.Wait()
				job.Delete()
			}
		}()
	}
	wg.Wait()
	testkit.Eventually(t, "what abandoned contexts had is given back", func() bool {
		return memctx.Taken(top) <= alone && memctx.Taken(x) <= 0 && memctx.Taken(y) <= 0
	})
	if a, b, c := memctx.Taken(top), memctx.Taken(x), memctx.Taken(y); a != alone || b != 0 || c != 0 {
		t.Errorf("in the end %d, %d and %d bytes are counted, want %d, 0 and 0", a, b, c, alone)
	}
	checkAll(t, top, z)
	checkNames(t, "top", "tenant", "job", "stage", "lost")
}
