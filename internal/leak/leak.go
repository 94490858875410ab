// Package leak keeps what the leak finder found: objects that were dropped
// without being ended, or that grow, or live too long, and memory that is
// referred to after its release (package stale finds that), by kind, name and
// the place where they were made.
//
// What it costs is paid by the objects that are sampled, the first few contexts of each
// name and one object in 128 unless a program says otherwise: the stack of their making is taken down, as program
// counters, and a cleanup is attached to them.
package leak

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/internal/clock"
)

// Kinds of findings.
const (
	Dropped = "dropped" // left to the garbage collector without being ended
	Grows   = "grows"   // larger at each of many resets
	Old     = "old"     // lives longer than it may
	Stale   = "stale"   // released, and still referred to two collections later
)

// every is 1 in how many objects is sampled; 0: none.
var every atomic.Uint32

func init() { every.Store(128) }

// SampleEvery makes one object out of n be sampled from now on; 0: none.
func SampleEvery(n uint32) { every.Store(n) }

// Sampled draws whether the object made now is sampled. It costs some four
// nanoseconds and touches no shared memory that is written to.
func Sampled() bool {
	n := every.Load()
	return n == 1 || n > 1 && rand.Uint32N(n) == 0
}

// SampledAfter is Sampled of an object of whose name there were so many before: the
// first four are sampled in any case, unless none are.
func SampledAfter(before uint64) bool {
	return before < 4 && every.Load() > 0 || Sampled()
}

// depth is the most frames of a stack that are kept.
const depth = 24

// A Site is where an object was made, and what it is.
type Site struct {
	what, name string
	n          int
	pcs        [depth]uintptr
	at         clock.Time
}

// Here returns the site of an object of that name which is made now. What it
// returns shows the callers outside of Haven first.
func Here(what, name string) *Site {
	s := &Site{what: what, name: name, at: clock.Now()}
	s.n = runtime.Callers(2, s.pcs[:])
	return s
}

// PCs returns the program counters of the site.
func (s *Site) PCs() []uintptr {
	if s == nil {
		return nil
	}
	return s.pcs[:s.n]
}

// At returns a site of these program counters, the first of them if there are too many,
// and nil for none.
func At(pcs []uintptr) *Site {
	if len(pcs) == 0 {
		return nil
	}
	s := new(Site)
	s.n = copy(s.pcs[:], pcs)
	return s
}

// Stack returns the frames as [Frames] does.
func (s *Site) Stack() string {
	if s == nil {
		return ""
	}
	return Frames(s.pcs[:s.n])
}

// Frames returns the frames of a stack in the form of a panic's, without those of
// Haven's own packages in front.
func Frames(pcs []uintptr) string {
	var b strings.Builder
	frames := runtime.CallersFrames(pcs)
	front := true
	for {
		f, more := frames.Next()
		if front = front && inHaven(f); !front && f.Function != "runtime.goexit" {
			fmt.Fprintf(&b, "%s(...)\n\t%s:%d\n", f.Function, f.File, f.Line)
		}
		if !more {
			return b.String()
		}
	}
}

// inHaven reports whether a frame is of a package that makes what is watched.
func inHaven(f runtime.Frame) bool {
	rest, ok := strings.CutPrefix(f.Function, "github.com/haven-mem/haven/")
	if !ok || strings.HasSuffix(f.File, "_test.go") {
		return false
	}
	for _, p := range []string{"internal/leak", "internal/check", "internal/stale", "internal/guard", "internal/track", "check", "arena", "bump", "slab", "pool", "memctx"} {
		if strings.HasPrefix(rest, p+".") {
			return true
		}
	}
	return false
}

// A Watch finds that an object was dropped. The zero Watch watches nothing.
type Watch struct {
	cleanup runtime.Cleanup
	site    *Site // nil: off
}

// NewWatch watches p, an object of that name which is made now, until Stop.
func NewWatch[T any](p *T, what, name string) Watch {
	s := Here(what, name)
	return Watch{runtime.AddCleanup(p, func(s *Site) { Report(Dropped, what, name, "", 0, s.at.Age(), s) }, s), s}
}

// Site returns where the object was made, or nil if it is not watched.
func (w *Watch) Site() *Site { return w.site }

// Stop ends the watch: the object was ended as it should be.
func (w *Watch) Stop() {
	if w.site != nil {
		w.site = nil
		w.cleanup.Stop()
	}
}

// A Finding is one or more findings of one kind, name and site. Package check has it in
// its API.
type Finding struct {
	Kind  string        // "dropped", "grows", "old" or "stale"
	What  string        // "context" or "arena"; of kind "stale" whatever released the memory: "lane", "pool", "cache" …
	Name  string        // of that
	Path  string        // of a context: the latest one
	Count uint64        // findings of this kind, name and stack
	Bytes int           // of the latest, in chunks
	Age   time.Duration // of the latest: since it was made, or of kind "stale" since the release
	Stack string        // where it was made, as in a panic; "" if that was not sampled

	// Of kind "stale" alone.
	Type     string // of the values in the memory, as %v prints it
	Chunks   int    // pieces of memory, of the latest
	Released string // the stack of the release
}

// String returns the finding in a line, and the stacks in those that follow.
func (f Finding) String() string {
	if f.Kind == Stale {
		return f.stale()
	}
	name := f.Path
	if name == "" {
		name = f.Name
	}
	return fmt.Sprintf("%d × %s %s %s: %d bytes, %v old\n%s", f.Count, f.What, name, f.Kind, f.Bytes, f.Age.Round(time.Millisecond), f.Stack)
}

// stale describes a stale pointer.
func (f *Finding) stale() string {
	what := f.What
	if f.Name != "" {
		what += fmt.Sprintf(" %q", f.Name)
	}
	chunks := "a chunk"
	if f.Chunks != 1 {
		chunks = fmt.Sprintf("%d chunks", f.Chunks)
	}
	text := fmt.Sprintf("%d × %s: something still points into %s of %s, %d bytes, released at\n%s",
		f.Count, what, chunks, f.Type, f.Bytes, f.Released)
	if f.Stack != "" {
		text += "made at\n" + f.Stack
	}
	return text
}

// Contexts is what package memctx answers when it is part of the program.
var Contexts struct {
	Age  func()        // reports the contexts that are older than they may be
	Open func() string // describes the contexts that are still open; "" if there are none
}

// MaxFindings bounds the list of findings: what is found beyond counts for an
// entry without a stack, and beyond twice as many for one without a name.
const MaxFindings = 1024

var found struct {
	mu   sync.Mutex
	list []*Finding
	by   map[Finding]*Finding // by kind, what, name, type and stacks
}

// Report adds a finding; s is nil for an object that was not sampled.
func Report(kind, what, name, path string, bytes int, age time.Duration, s *Site) {
	Add(Finding{Kind: kind, What: what, Name: name, Path: path, Bytes: bytes, Age: age, Stack: s.Stack()})
}

// Add adds a finding, whose Count does not matter.
func Add(latest Finding) {
	key := latest
	key.Path, key.Count, key.Bytes, key.Age, key.Chunks = "", 0, 0, 0, 0
	found.mu.Lock()
	defer found.mu.Unlock()
	f := found.by[key]
	if f == nil && len(found.list) >= MaxFindings {
		key.Stack, key.Released = "", ""
		f = found.by[key]
	}
	if f == nil && len(found.list) >= 2*MaxFindings {
		key.Name, key.Type, latest.Path = "(other names)", "", ""
		f = found.by[key]
	}
	if f == nil {
		f = new(Finding)
		*f = key
		if found.by == nil {
			found.by = make(map[Finding]*Finding)
		}
		found.by[key] = f
		found.list = append(found.list, f)
	}
	f.Count++
	f.Path, f.Bytes, f.Age, f.Chunks = latest.Path, latest.Bytes, latest.Age, latest.Chunks
}

// All returns the findings up to now, those with most findings first.
func All() []Finding {
	found.mu.Lock()
	defer found.mu.Unlock()
	list := make([]Finding, len(found.list))
	for i, f := range found.list {
		list[i] = *f
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name))
	})
	return list
}
