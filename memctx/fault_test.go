package memctx_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
)

// A job is a program of nested contexts, callbacks, leases, moves and resets that
// fails somewhere. It is written as programs are: what it makes it ends in deferred
// calls, and who serves a request goes on with the next when one panics.
type job struct {
	root     *memctx.Context
	contexts []*memctx.Context
	ran      []int // of each callback, how often
	calls    int
	fault    func(call int) // at the beginning of each callback
	failures []any          // what requests panicked with
	totals   []int          // what the root counted after each step
}

var jobNames = []string{"job", "job conn", "job request", "job query"}

func (j *job) made(c *memctx.Context) *memctx.Context {
	j.contexts = append(j.contexts, c)
	id := len(j.ran)
	j.ran = append(j.ran, 0)
	c.OnReset(func() {
		j.ran[id]++
		j.calls++
		if j.fault != nil {
			j.fault(j.calls)
		}
		if j.calls%3 == 0 {
			arena.New[[50]int](c.Arena())
		}
	})
	return c
}

func (j *job) take(c *memctx.Context, n int) {
	defer func() { j.totals = append(j.totals, memctx.Taken(j.root)) }()
	for range n {
		arena.New[[30]*int](c.Arena())
	}
	arena.MakeSlice[byte](c.Arena(), 20*n, 20*n)
}

// recovered runs f and notes what it panics with, or that it does not return.
func (j *job) recovered(f func()) {
	returned := false
	defer func() {
		if r := recover(); r != nil {
			j.failures = append(j.failures, r)
		} else if !returned {
			j.failures = append(j.failures, "Goexit")
		}
	}()
	f()
	returned = true
}

func (j *job) run() {
	defer j.root.Delete()
	j.made(j.root)
	j.recovered(func() {
		conn := j.made(j.root.Child("job conn", memctx.Config{Reserve: 2500}))
		defer conn.Delete()
		j.take(conn, 1)
		for i := range 3 {
			j.recovered(func() { j.request(conn, i) })
		}
		j.take(conn, 5)
		conn.ResetChildren()
		j.take(conn.Child("job query"), 3)
		conn.Reset()
		j.take(j.made(conn.Child("job request")), 2)
	})
}

func (j *job) request(conn *memctx.Context, i int) {
	request := j.made(conn.Child("job request", memctx.Config{Limit: 30_000}))
	request.Retain()
	defer request.Release()
	defer request.Delete()
	j.take(request, 10)
	query := j.made(request.Child("job query"))
	j.take(query, 20)
	switch i {
	case 0:
		request.Reset()
		j.take(request, 20)
	case 1:
		if err := query.SetParent(conn); err != nil && !errors.Is(err, arena.ErrLimit) {
			panic(err)
		}
	case 2:
		query.Abandon()
		defer query.Delete()
		j.take(query, 3)
	}
	held := j.made(request.Child("job query", memctx.Config{Reserve: 1000}))
	held.Retain()
	defer held.Release()
	j.take(held, 7)
	request.Reset()
	j.take(held, 7)
	j.take(request, 1)
}

// check fails the test unless everything came to its end, once, and nothing leaks.
func (j *job) check(t *testing.T, what string) {
	t.Helper()
	checkAll(t, j.contexts...)
	for i, c := range j.contexts {
		if s := memctx.StateOf(c); s != "gone" || memctx.Taken(c) != 0 || j.ran[i] != 1 {
			t.Errorf("%s: %s is %s, counts %d bytes, and its callback ran %d times", what, c.Path(), s, memctx.Taken(c), j.ran[i])
		}
	}
	checkNames(t, jobNames...)
	check.VerifyNone(t)
	if t.Failed() {
		t.FailNow()
	}
}

func newJob(conf ...memctx.Config) *job { return &job{root: memctx.New("job", conf...)} }

// Wherever a limit is reached nothing leaks, no callback is lost, and none runs
// twice: the limit comes at each chunk in turn.
func TestFaultAtEachChunk(t *testing.T) {
	j := newJob(memctx.Config{Limit: 1 << 30})
	j.run()
	j.check(t, "no fault")
	if len(j.failures) > 0 || len(j.contexts) != 12 {
		t.Fatalf("without a fault %v, %d contexts", j.failures, len(j.contexts))
	}
	limits := j.totals
	most := slices.Max(limits)
	for n := 100; n < most; n += most / 100 {
		limits = append(limits, n)
	}
	slices.Sort(limits)
	limits = slices.Compact(limits)
	reached := 0
	for _, total := range limits {
		j := newJob(memctx.Config{Limit: total - 1})
		func() {
			defer func() {
				if r := recover(); r != nil { // from a callback of the root
					j.failures = append(j.failures, r)
				}
			}()
			j.run()
		}()
		for _, f := range j.failures {
			if err, ok := f.(error); !ok || !isLimit(err) {
				t.Fatalf("limit %d: %v", total-1, f)
			}
		}
		if len(j.failures) > 0 {
			reached++
		}
		j.check(t, fmt.Sprint("limit ", total-1))
	}
	if reached < len(limits)/2 { // warm arenas take their chunks at other times
		t.Errorf("of %d limits %d were reached", len(limits), reached)
	}
}

// The same where a callback panics, or ends its goroutine: each in turn, and each
// with those that follow.
func TestFaultInEachCallback(t *testing.T) {
	j := newJob()
	j.run()
	j.check(t, "no fault")
	calls := j.calls
	for k := range calls {
		for what, fault := range map[string]func(call int){
			"panic":      func(call int) { panic(call) },
			"Goexit":     func(int) { runtime.Goexit() },
			"both":       func(call int) { defer runtime.Goexit(); panic(call) },
			"two panics": func(call int) { defer func() { panic(-call) }(); panic(call) },
		} {
			for _, more := range []bool{false, true} {
				j := newJob()
				failed := 0
				j.fault = func(call int) {
					if call == k+1 || more && call > k {
						failed++
						fault(call)
					}
				}
				done := make(chan bool)
				go func() {
					defer close(done)
					j.recovered(j.run)
				}()
				<-done
				if failed == 0 || len(j.failures) == 0 {
					t.Fatalf("%s in call %d: %d failed, %v", what, k+1, failed, j.failures)
				}
				j.check(t, fmt.Sprintf("%s in call %d, and in more: %t", what, k+1, more))
			}
		}
	}
}
