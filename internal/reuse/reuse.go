// Package reuse decides whether an owner of memory that takes it back may use it again.
//
// What keeps programs from arenas is the fear of a pointer that outlives what it points
// to: it reads what somebody else put there, and no test shows it. The collector knows of
// each such pointer (package stale asks it, for one release in 1,024). So an owner can do
// without trust. It begins with memory that nobody uses twice: what it takes back goes to
// the collector, which costs a chunk for each type, and a pointer that was kept reads what
// it always did. Of the first releases, the trials, all memory is watched. If none of it
// is referred to two collections after the last trial, the program has shown, with its own
// traffic, that it keeps no pointers, and memory is used again. One release in 1,024 is
// still watched. Once something is found the owner lets go of all it has, and starts over:
//
//	       ┌────────────── found ──────────────┐
//	       ▼                                   │
//	  ┌─ trial ─┐ trials are   ┌─ waiting ─┐ all are  ┌─ reusing ─┐
//	─►│ watched, ├─ released ─►│ dropped    ├─ judged ─►│ kept, or   │
//	  │ dropped  │             │            │  clean    │ watched    │
//	  └─────────┘              └───────────┘           └───────────┘
//
// Memory on trial is never used again, whatever comes out: so the bytes of one user are
// not read by another as long as a trial lasts. After it the promise is that of the samples.
//
// It is no proof. A path that runs once a day and keeps a pointer may not be among the
// trials. What is watched are releases: an owner that is asked once for all of its users
// tells nothing about one of them.
package reuse

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/clock"
)

// A Mode says whether memory is used again. Package arena has it in its API.
type Mode uint8

const (
	Always Mode = iota // from the first release on
	Earn               // once trials have shown that nobody keeps pointers to it
	Never              // what is released goes to the garbage collector
)

// String returns the name of the constant.
func (m Mode) String() string {
	if m <= Never {
		return [...]string{"Always", "Earn", "Never"}[m]
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// DefaultTrials is how many releases are on trial where nothing else is said.
const DefaultTrials = 1000

// A Record is what an owner knows of its users. It decides for each release. A nil Record
// is that of an owner that always uses memory again. Any number of goroutines may use it.
type Record struct {
	keeps atomic.Bool // the state is reusing
	watch atomic.Bool // the state is trial

	mode   Mode
	trials int

	mu    sync.Mutex
	round uint64 // of trials; what began in an earlier one does not count
	begun int    // trials of this round
	open  int    // those that are not judged yet
	found uint64
	last  clock.Time // when something was found last
}

// New returns a Record, nil for Always. No trials stand for the default.
func New(m Mode, trials int) *Record {
	if m == Always {
		return nil
	}
	if trials == 0 {
		trials = DefaultTrials
	}
	r := &Record{mode: m, trials: trials}
	r.watch.Store(m == Earn)
	return r
}

// Keeps reports whether the owner may use again what it takes back now, and what it has
// kept.
func (r *Record) Keeps() bool { return r == nil || r.keeps.Load() }

// OnTrial reports whether memory that is not kept is to be watched.
func (r *Record) OnTrial() bool { return r.watch.Load() }

// Watched says that a release is watched, all of it on trial, or else a part of it. The
// result, which is nil for owners who do not care, is called when it is known whether the
// memory is still referred to.
func (r *Record) Watched(trial bool) (judged func(alive bool)) {
	if r == nil || r.mode != Earn {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	round := r.round
	if trial = trial && !r.keeps.Load(); trial {
		r.begun++
		r.open++
		r.settle()
	}
	return func(alive bool) {
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case alive:
			r.found++
			r.last = clock.Now()
			r.round++
			r.begun, r.open = 0, 0
		case trial && round == r.round:
			r.open--
		}
		r.settle()
	}
}

// settle sets the state by the numbers.
func (r *Record) settle() {
	r.watch.Store(r.begun < r.trials)
	r.keeps.Store(r.begun >= r.trials && r.open == 0)
}

// A State is how far an owner is. Package arena has it in its API.
type State struct {
	Mode   Mode
	Trial  int       // releases on trial so far, of Trials; 0 with Always and Never
	Trials int       // how many there are before memory is used again
	Earned bool      // memory is used again
	Found  uint64    // how often memory was found that was still referred to
	Last   time.Time // when that was last; zero if never
}

// State returns the state of now.
func (r *Record) State() State {
	if r == nil || r.mode != Earn {
		return State{Mode: r.Mode()}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := State{Mode: Earn, Trial: min(r.begun, r.trials), Trials: r.trials, Earned: r.keeps.Load(), Found: r.found}
	if r.found > 0 {
		s.Last = r.last.Wall()
	}
	return s
}

// Mode returns the mode that the Record was made with.
func (r *Record) Mode() Mode {
	if r == nil {
		return Always
	}
	return r.mode
}

// String returns the state in a few words, such as "trial 412/1000".
func (s State) String() string {
	var text string
	switch {
	case s.Mode == Always:
		return "always reusing"
	case s.Mode == Never:
		return "never reusing"
	case s.Earned:
		text = "reusing"
	case s.Trial == s.Trials:
		text = "waiting for collections"
	default:
		text = fmt.Sprintf("trial %d/%d", s.Trial, s.Trials)
	}
	if s.Found > 0 {
		text += fmt.Sprintf(", stopped %s, the last at %s", account.Count(s.Found, "time"), s.Last.Format(time.RFC3339))
	}
	return text
}
