package stress

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// ChildCommand is the first argument of a process that was started to run programs in
// one mode. Its second is a task.
const ChildCommand = "stress-child"

// A task says what a child runs.
type task struct {
	Mode       string
	Seed       uint64
	Goroutines int
	Ops        int64         // 0: no bound
	For        time.Duration // 0: no bound
	Quota      int64         // operations of a worker in a program
}

// An event is a line that a child writes to its parent.
type event struct {
	Seed     uint64 // of the program that runs
	Programs int    // ended
	Ops      int64
	Finding  *Finding `json:",omitempty"`
	Done     bool     `json:",omitempty"`
}

const (
	// quota is how many operations of each worker make a program, so that there are
	// some programs a second.
	quota = 200_000
	// tellEvery is how often a child says how far it is.
	tellEvery = 250 * time.Millisecond
	// patience is how long a program may be without any operation. A collection that
	// is verified, in a build with sanitizers, takes seconds.
	patience = 60 * time.Second
)

// Child runs the programs of a task, whose encoding is the only argument, and returns
// the exit status. It takes over the process.
func Child(args []string, stdout io.Writer) int { return child(args, stdout, nil) }

func child(args []string, stdout io.Writer, hook func(*worker)) int {
	signal.Ignore(os.Interrupt) // the parent ends this process
	var t task
	if len(args) != 1 || json.Unmarshal([]byte(args[0]), &t) != nil {
		fmt.Fprintf(os.Stderr, "haven %s: started by haven stress, not by hand\n", ChildCommand)
		return 2
	}
	m, ok := modeNamed(t.Mode)
	if !ok {
		fmt.Fprintf(os.Stderr, "haven %s: no mode %q\n", ChildCommand, t.Mode)
		return 2
	}
	c := &runner{task: t, hook: hook, enc: json.NewEncoder(stdout)}
	c.now.Seed = t.Seed
	stop := c.watch()
	end := m.begin(t.Seed)
	f := c.runPrograms()
	end()
	stop()
	if f == nil {
		c.tell(nil, true)
	}
	return 0
}

// A runner is the state of a child.
type runner struct {
	task
	hook func(*worker)
	ops  atomic.Int64
	stop atomic.Bool

	mu  sync.Mutex
	enc *json.Encoder
	now event
}

// tell writes an event. A parent that is gone ends the process.
func (c *runner) tell(f *Finding, done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now.Ops, c.now.Done = c.ops.Load(), done
	if f != nil { // and it stays: the watch may tell once more
		c.now.Finding = f
	}
	if err := c.enc.Encode(c.now); err != nil {
		os.Exit(1)
	}
}

// watch tells how far the child is, ends the run when the time is over, and the
// process when nothing happens any more.
func (c *runner) watch() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(done)
		tick := time.NewTicker(tellEvery)
		defer tick.Stop()
		last, since := int64(-1), start
		for {
			select {
			case <-quit:
				return
			case now := <-tick.C:
				if c.For > 0 && now.Sub(start) >= c.For {
					c.stop.Store(true)
				}
				c.tell(nil, false)
				if n := c.ops.Load(); n != last {
					last, since = n, now
				} else if now.Sub(since) > patience {
					fmt.Fprintf(os.Stderr, "no operation for %v\n", patience)
					pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
					os.Exit(1)
				}
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// runPrograms runs one program after the other until the task is done or something
// was found.
func (c *runner) runPrograms() *Finding {
	for !c.stop.Load() {
		each := c.Quota
		if c.Ops > 0 {
			left := c.Ops - c.ops.Load()
			if left <= 0 {
				return nil
			}
			each = min(each, (left+int64(c.Goroutines)-1)/int64(c.Goroutines))
		}
		seed := c.Seed + uint64(c.now.Programs)
		c.mu.Lock()
		c.now.Seed = seed
		c.mu.Unlock()
		c.tell(nil, false)
		p := newShared(seed, c.Goroutines, &c.ops, &c.stop)
		p.hook = c.hook
		f := p.run(each)
		if f != nil {
			f.Mode, f.Seed = c.Mode, seed
			c.tell(f, false)
			return f
		}
		c.mu.Lock()
		c.now.Programs++
		c.mu.Unlock()
	}
	return nil
}
