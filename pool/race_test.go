package pool_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// The tests of this file whose names begin with TestRaceBuild need the race
// detector. In other builds TestRace has the go command build and run them.
func TestRace(t *testing.T) {
	if pool.Race {
		t.Skip("this is a build with the race detector, which runs them anyway")
	}
	if testing.Short() {
		t.Skip("builds a program with the race detector")
	}
	goCmd, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command to build a program with the race detector: ", err)
	}
	args := []string{"test", "-race", "-vet=off", "-count=1", "-v", "-run=^TestRaceBuild"}
	if !pool.Pinned {
		args = append(args, "-tags=haven_nolinkname")
	}
	cmd := exec.Command(goCmd, append(args, ".")...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1")
	out, err := cmd.CombinedOutput()
	for _, missing := range []string{"-race requires cgo", "-race is not supported on", "-race is only supported on", "C compiler", "executable file not found", "build constraints exclude all Go files in"} {
		if strings.Contains(string(out), missing) {
			t.Skipf("no race detector here: %v\n%s", err, out)
		}
	}
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	if n := strings.Count(string(out), "--- PASS: TestRaceBuild"); n < 2 || strings.Contains(string(out), "--- SKIP") {
		t.Errorf("%d tests passed, or some were skipped:\n%s", n, out)
	}
}

// needsRace skips a test in builds without the race detector.
func needsRace(t *testing.T) {
	if !pool.Race {
		t.Skip("needs the race detector: see TestRace")
	}
}

// source is what the pools have in common.
type source struct {
	get    func() *object
	put    func(*object)
	budget *pool.Budget
}

// sources are pools whose objects take each of the ways there are.
func sources() map[string]source {
	of := func(p *pool.Pool[object]) source { return source{p.Get, p.Put, p.Budget()} }
	b := new(pool.Bytes)
	return map[string]source{
		"plain":      of(new(pool.Pool[object])),
		"Reset":      of(pool.New(nil, pool.Config[object]{Reset: func(x *object) { x.next = nil }})),
		"costed":     of(pool.New(nil, pool.Config[object]{Cost: func(x *object) int { return len(x.data) }, MaxBytes: 1 << 20})),
		"one by one": of(pool.New(nil, pool.Config[object]{Max: 3})),
		"tight":      of(pool.New(nil, pool.Config[object]{Max: 70})),
		"Idle":       of(pool.New(nil, pool.Config[object]{Idle: 2 * time.Millisecond})),
		"Bytes": {
			func() *object { return &object{data: *b.Get(100)} },
			func(x *object) { b.Put(&x.data) },
			b.Budget(),
		},
	}
}

// Goroutines that use objects between Get and Put race with nobody.
func TestRaceBuildReportsNothingFalse(t *testing.T) {
	needsRace(t)
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GORACE=halt_on_error=1")
		return
	}
	stop := testkit.Hammer()
	defer stop()
	for name, s := range sources() {
		t.Run(name, func(t *testing.T) {
			var wg sync.WaitGroup
			for g := range 6 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					var out []*object
					for i := range 2000 {
						if (i/150+g)%2 == 0 || len(out) == 0 {
							x := s.get()
							x.id++
							if x.data == nil {
								x.data = make([]byte, 10)
							}
							x.data[0]++
							out = append(out, x)
						} else {
							x := out[len(out)-1]
							x.id++
							x.next = &object{}
							out = out[:len(out)-1]
							s.put(x)
						}
						if i%500 == 0 {
							s.budget.Settle()
							s.budget.Stats()
							runtime.Gosched()
						}
					}
				}()
			}
			wg.Wait()
		})
	}
}

// A write after Put races with the next user of the object.
func TestRaceBuildReportsUseAfterPut(t *testing.T) {
	needsRace(t)
	for name, s := range sources() {
		t.Run(name, func(t *testing.T) {
			if !testkit.InChild(t) {
				out, err := testkit.Child(t, "GORACE=halt_on_error=1")
				if err == nil || !strings.Contains(out, "WARNING: DATA RACE") {
					t.Errorf("no race reported: %v\n%s", err, out)
				}
				return
			}
			defer pool.OneP()()
			x := s.get()
			if x.data == nil {
				x.data = make([]byte, 100)
			}
			mine := x.data
			put, written := make(chan bool), make(chan bool)
			go func() {
				s.put(x)
				put <- true
				mine[5] = 1 // after Put; nothing orders this and the read below
				if name != "Bytes" {
					x.id = 7
				}
				close(written)
			}()
			<-put
			var y *object
			for y == nil || &y.data[0] != &mine[0] {
				s.budget.Settle() // what went to magazines that others would look into
				y = s.get()
			}
			y.id++
			y.data[5]++
			<-written
		})
	}
}
