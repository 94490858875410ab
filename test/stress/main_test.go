package stress

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"
)

// plantVar names the bug of a child process.
const plantVar = "HAVEN_STRESS_PLANT"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == ChildCommand {
		var hook func(*worker)
		if p, ok := plants[os.Getenv(plantVar)]; ok {
			hook = once(p.do)
		}
		os.Exit(child(os.Args[2:], os.Stdout, hook))
	}
	os.Exit(m.Run())
}

// A plant is a bug: do puts it into the first worker's memory, and reports whether
// there was an occasion.
type plant struct {
	do   func(*worker) bool
	want string // part of what is found
	// perP: when it is found depends on which P the goroutine is on, whatever it does.
	perP bool
}

var plants = map[string]plant{
	"a byte is changed": {do: func(w *worker) bool {
		c := w.cells.find(inArena)
		if c == nil {
			return false
		}
		c.head.words[2] ^= 1 << 17
		return true
	}, want: "arena 1, cell "},
	"a later program": {do: func(w *worker) bool {
		c := w.cells.find(inArena)
		if w.shared.seed < 17 || c == nil {
			return false
		}
		c.head.words[2] ^= 1 << 17
		return true
	}, want: "arena 1, cell "},
	"a cell is lost": {do: func(w *worker) bool {
		c := w.cells.find(inArena2)
		if c == nil || c.n < 2 {
			return false
		}
		c.head.next = c.head.next.next
		return true
	}, want: "arena 2"},
	"the collector misses a pointer": {do: func(w *worker) bool {
		c := w.cells.find(inLane)
		if c == nil || c.head.stamp == nil {
			return false
		}
		*c.head.stamp = stamp{} // as the memory of an object that died
		return true
	}, want: "the stamp at "},
	"memory is not cleared": {do: func(w *worker) bool {
		p := w.cells.local.Alloc()
		w.cells.local.Free(p)
		p.words[5] = 1
		return true
	}, want: "word 5 of 6 of new memory at "},
	"an object is freed too early": {do: func(w *worker) bool {
		c := w.cells.find(inLocal)
		if c == nil {
			return false
		}
		w.cells.local.Free(c.head)
		return true
	}, want: "a Local"},
	"an arena is reset too early": {do: func(w *worker) bool {
		if w.cells.find(inArena) == nil || len(w.arenas[0].marks) > 0 || w.arenas[0].hooks > 0 {
			return false
		}
		w.arenas[0].a.Reset()
		return true
	}, want: "arena 1"},
	"an object is never freed": {do: func(w *worker) bool {
		w.shared.wides.cache.Alloc()
		return true
	}, want: "all was freed, but the cache has ", perP: true},
	"a row is removed": {do: func(w *worker) bool {
		for _, t := range w.threads {
			if t.n > 0 {
				return w.table.Remove(t.head)
			}
		}
		return false
	}, want: "row"},
	"a buffer is used after Put": {do: func(w *worker) bool {
		p := w.shared.bytes.Get(100)
		w.shared.bytes.Put(p)
		(*p)[:100][99] = 1
		return false // and again, so that somebody gets it
	}, want: "byte 99 of a new buffer of 112 is 0x1, want 0", perP: true},
	"a context is reset too early": {do: func(w *worker) bool {
		for i := range w.nodes {
			if n := &w.nodes[i]; n.mc != nil && n.chain.head != nil {
				n.mc.Reset()
				return true
			}
		}
		return false
	}, want: "context"},
	"a panic": {do: func(*worker) bool { panic("as if misused") }, want: "panic: as if misused"},
	"a crash": {do: func(*worker) bool {
		var mu sync.Mutex
		unlock := mu.Unlock
		unlock()
		return true
	}, want: "the process of the programs: exit status 2"},
}

// find returns a chain that is in h, or nil.
func (s *set[T, P]) find(h home) *chain[T] {
	for i := range s.slots {
		if c := &s.slots[i]; c.head != nil && c.home == h {
			return c
		}
	}
	return nil
}

// once calls do for the first worker, from some step on, until it reports true.
func once(do func(*worker) bool) func(*worker) {
	done := false
	return func(w *worker) {
		if w.id == 0 && w.steps >= 2000 && !done {
			done = do(w)
		}
	}
}

// stress runs the command with -json - and returns the report.
func stress(t *testing.T, args ...string) (status int, r Report) {
	t.Helper()
	var stdout, stderr strings.Builder
	status = Run(append(args, "-json", "-"), &stdout, &stderr)
	if err := json.Unmarshal([]byte(stdout.String()), &r); err != nil {
		t.Fatalf("%q: status %d, %v, standard error %q", args, status, err, stderr.String())
	}
	return status, r
}
