package soak_test

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
)

var (
	duration = flag.Duration("duration", 2*time.Second, "how long TestSoak takes")
	seed     = flag.Uint64("seed", 1, "what the choices of the actors follow from")
)

// TestSoak has actors do to memory contexts whatever is allowed, for -duration.
// Each keeps a model of its tree: what must be in it, which callbacks wait, who
// holds what. Between rounds everything comes to its end, and what is left must
// be what there was in the beginning. In every other round the weather is bad:
// the garbage collector and the scheduler get new settings all the time.
//
// What the actors choose follows from -seed. What becomes of it depends on the
// scheduler, and where limits are reached on the garbage collector too.
func TestSoak(t *testing.T) {
	check.VerifyNone(t)
	s := newSoak()
	rest := s.newRest()
	end := s.began.Add(*duration)
	third := s.began.Add(*duration / 3)
	length := min(max(*duration/8, 200*time.Millisecond), 5*time.Second)
	logged := s.began
	for round := uint64(0); round < 3 || time.Now().Before(end); round++ {
		workers := 8
		if round == 0 {
			workers = 1 // a bug that needs no second goroutine is easier to see there
		}
		s.round(round, workers, length, round%2 == 1)
		if err := s.err.Load(); err != nil {
			t.Fatalf("-seed %d, round %d: %v\nthe actor's last steps: %s", *seed, round, *err, *s.trail.Load())
		}
		rest.check(t, s, round == 0 || time.Now().Before(third))
		if t.Failed() {
			t.Fatalf("-seed %d, after round %d", *seed, round)
		}
		if time.Since(logged) > 4*time.Second {
			logged = time.Now()
			t.Log(s)
		}
	}
	s.server.Delete()
	check.VerifyNone(t)
	t.Log(s)
	t.Log(rest)
	for i, o := range opTable {
		if s.counts[i].Load() == 0 {
			t.Errorf("the operation %q never came", o.name)
		}
	}
	for i, name := range eventNames {
		if s.events[i].Load() == 0 && i != evTooLate { // which takes luck
			t.Errorf("%s: none", name)
		}
	}
}

// Events that a soak should see.
const (
	evValues = iota
	evCallbacks
	evRefusals
	evPanics
	evHeld
	evTimeouts
	evLate
	evAbandoned
	evMoves
	evTooLate
	evMisuses
	evLedgers
	evDuels
	numEvents
)

var eventNames = [numEvents]string{
	"values written", "callbacks run", "refused by a limit", "panics", "deleted while a lease is out",
	"called off while at work", "at work after Abandon", "abandoned", "moved", "made too late", "misused", "ledgers added up", "duels",
}

// A soak is what the actors share.
type soak struct {
	server *memctx.Context // has a limit; there all the time
	cache  *memctx.Context // below it
	stock  []value         // of the server
	slots  [48]atomic.Pointer[task]
	stop   atomic.Bool

	err   atomic.Pointer[error]  // the first
	trail atomic.Pointer[string] // that led there

	began time.Time

	ids     atomic.Uint64
	pending atomic.Int64  // callbacks that are to run
	dropped atomic.Uint64 // roots
	counts  [64]atomic.Int64
	events  [numEvents]atomic.Int64
}

// serverLimit is reached now and then, most often when a lot was abandoned since
// the last garbage collection.
const serverLimit = 16 << 20

func newSoak() *soak {
	s := &soak{began: time.Now(), server: memctx.New("soak-server", memctx.Config{Limit: serverLimit})}
	s.cache = s.server.Child("soak-cache")
	rng := rand.New(rand.NewPCG(*seed, 1<<63))
	for n := (&twin{mc: s.server, limit: serverLimit}); len(n.cells) < 20; s.stock = n.values {
		s.add(rng, n, nil)
	}
	stock := s.stock[:0:0]
	for _, v := range s.stock {
		if v.cell != nil {
			stock = append(stock, v)
		}
	}
	s.stock = stock
	return s
}

func (s *soak) count(event int) { s.events[event].Add(1) }

// steps returns how many operations there were.
func (s *soak) steps() (n int64) {
	for i := range opTable {
		n += s.counts[i].Load()
	}
	return n
}

// String says how much was done.
func (s *soak) String() string {
	var b strings.Builder
	took := time.Since(s.began)
	fmt.Fprintf(&b, "%v: %d steps, %.0f a second", took.Round(time.Second/10), s.steps(), float64(s.steps())/took.Seconds())
	for i, name := range eventNames {
		fmt.Fprintf(&b, ", %d %s", s.events[i].Load(), name)
	}
	return b.String()
}

// failed is what goroutines panic with after an error.
type failed struct{}

// fail notes the first error and ends what is going on.
func (s *soak) fail(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	s.err.CompareAndSwap(nil, &err)
	s.stop.Store(true)
	panic(failed{})
}

// try runs f and reports whether a planted panic came out.
func try(f func()) (panicked bool) {
	defer func() {
		if p := recover(); p != nil {
			if _, panicked = p.(planted); panicked {
				return
			}
			if _, known := p.(failed); !known {
				p = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			panic(p)
		}
	}()
	f()
	return false
}

// complain notes a panic that nobody planted, and what the actor did before. It
// is deferred.
func (a *actor) complain() {
	p := recover()
	if p == nil {
		return
	}
	if _, known := p.(failed); !known {
		err := fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		a.err.CompareAndSwap(nil, &err)
	}
	trail := a.trail.String()
	a.soak.trail.CompareAndSwap(nil, &trail)
	a.stop.Store(true)
	panic(failed{})
}

// round has workers at work for a while, and then all come to their end.
func (s *soak) round(round uint64, workers int, length time.Duration, bad bool) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(maxProcs))
	calm := func() {}
	if bad {
		calm = weather(round)
	}
	s.stop.Store(false)
	var wg sync.WaitGroup
	list := make([]*worker, workers)
	for i := range list {
		rng := rand.New(rand.NewPCG(*seed, round<<32|uint64(i)))
		list[i] = &worker{soak: s, rng: rng, actor: &actor{soak: s, rng: rng}}
		list[i].actor.w = list[i]
		wg.Add(1)
		go func() {
			defer wg.Done()
			list[i].run()
		}()
	}
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	s.watch(length, done)
	calm()
	if s.err.Load() == nil {
		s.drain(list)
	}
}

// watch ends the work after a while. If nothing happens any more it ends the
// process, so that all goroutines are shown. It counts looks and not time, of
// which there is none while the whole machine stands still.
func (s *soak) watch(length time.Duration, done <-chan struct{}) {
	const pause, most = 10 * time.Millisecond, 6000
	end := time.Now().Add(length)
	for steps, idle := s.steps(), 0; ; idle++ {
		select {
		case <-done:
			return
		case <-time.After(pause):
		}
		if time.Now().After(end) {
			s.stop.Store(true)
		}
		if n := s.steps(); n != steps {
			steps, idle = n, 0
		}
		if idle > most {
			debug.SetTraceback("all")
			panic(fmt.Sprintf("-seed %d: nothing happened for %v", *seed, most*pause))
		}
	}
}

// A worker has an actor of its own, and does some of everybody's tasks besides. It
// is one goroutine after another.
type worker struct {
	*soak
	rng   *rand.Rand
	actor *actor
	spare []task
}

// put leaves a task to whoever comes.
func (w *worker) put(t task) {
	if other := w.slots[w.rng.IntN(len(w.slots))].Swap(&t); other != nil {
		w.spare = append(w.spare, *other)
	}
}

func (w *worker) run() {
	for end := false; !end; {
		end = w.stop.Load()
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer w.absorb()
			defer w.actor.complain()
			if !end {
				w.work()
			} else if w.err.Load() == nil {
				w.actor.leaveAll()
			}
		}()
		<-done
	}
}

// absorb ends a goroutine that failed. It is deferred.
func (s *soak) absorb() {
	if p := recover(); p != nil && p != any(failed{}) {
		panic(p)
	}
}

// work does some steps.
func (w *worker) work() {
	for n := 200; n > 0 && !w.stop.Load(); n-- {
		w.actor.step()
		if w.rng.IntN(2) == 0 {
			w.actor.duel()
		}
		if w.rng.IntN(4) == 0 {
			if t := w.slots[w.rng.IntN(len(w.slots))].Swap(nil); t != nil {
				w.spare = append(w.spare, *t)
			}
		}
		for len(w.spare) > 0 && !w.stop.Load() {
			k := len(w.spare) - 1
			t := w.spare[k]
			w.spare = w.spare[:k]
			if !t.visit(w, false) {
				w.put(t)
			}
		}
		if w.rng.IntN(512) == 0 {
			w.look()
		}
	}
}

// leaveAll ends the tree of an actor of the first kind.
func (a *actor) leaveAll() {
	if a.top != nil {
		a.end(a.top)
	}
	a.bury()
}

// look asks for all that can be asked for while everybody is at work.
func (w *worker) look() {
	switch w.rng.IntN(5) {
	case 0:
		memctx.TakeSnapshot()
	case 1:
		memctx.WriteReport(io.Discard, memctx.ReportOptions{JSON: w.rng.IntN(2) == 0, Of: w.server})
	case 2:
		for range memctx.Names() {
		}
	case 3:
		check.Leaks()
	case 4:
		w.server.Walk(func(c *memctx.Context, depth int) bool { return c.Path() != "" && depth < 20 })
	}
}

// drain does all tasks to their end.
func (s *soak) drain(list []*worker) {
	w := list[0]
	defer s.absorb()
	defer w.actor.complain()
	for _, x := range list[1:] {
		w.spare = append(w.spare, x.spare...)
	}
	for more := true; more; {
		more = false
		for i := range s.slots {
			if t := s.slots[i].Swap(nil); t != nil {
				w.spare = append(w.spare, *t)
			}
		}
		for _, t := range w.spare {
			more = true
			t.visit(w, true)
		}
		w.spare = nil
	}
}
