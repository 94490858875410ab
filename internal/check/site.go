package check

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/leak"
)

// A Site is a place in the program, with its callers: a number, so that one can be
// kept for each allocation. The zero Site is unknown.
type Site uint32

// Depth of a stack in frames. The shallow one costs a third of the deep one, and
// shows who called Haven.
const (
	shallow = 6
	deep    = 24
)

type pcs [deep]uintptr

var sites struct {
	mu   sync.RWMutex
	by   map[pcs]Site
	list []pcs // that of Site n is list[n-1]
}

// Here returns the site of the caller, as the callers of Haven see it. skip is the
// number of frames of Haven that are certain to be in front, the caller's own
// included. It costs some twenty nanoseconds where the same stack was seen before,
// and on amd64 and arm64; else what runtime.Callers does. Frames get their names when
// they are printed.
func Here(skip int) Site { return here(skip+1, set.depth) }

// Release is Here with a deep stack, for what happens once for many allocations,
// many frames of Haven below.
func Release() Site { return here(2, deep) }

// known has sites by the fingerprint of the stack: its upper bits, and the site in
// the lower ones. A stack has two places; if it has lost them to others it is captured
// again.
var known [1 << 13][2]atomic.Uint64

const siteBits = 24

func here(skip, depth int) Site {
	if !set.stacks {
		return 0
	}
	// What is inlined makes more frames of those that fingerprint sees, never less.
	h, ok := fingerprint(skip + depth)
	if !ok {
		return capture(skip+1, depth)
	}
	h += uint64(skip)<<8 + uint64(depth)
	if s := recall(h); s != 0 {
		return s
	}
	s := capture(skip+1, depth)
	remember(h, s)
	return s
}

const siteMask = 1<<siteBits - 1

// recall returns the site of the stack with that fingerprint, or 0.
func recall(h uint64) Site {
	at := &known[h%uint64(len(known))]
	for i := range at {
		if x := at[i].Load(); x != 0 && x&^siteMask == h&^siteMask {
			return Site(x & siteMask)
		}
	}
	return 0
}

func remember(h uint64, s Site) {
	at := &known[h%uint64(len(known))]
	if s <= siteMask {
		at[1].Store(at[0].Swap(h&^siteMask | uint64(s)))
	}
}

// capture is here by way of the runtime.
func capture(skip, depth int) Site {
	var p pcs
	runtime.Callers(skip+1, p[:depth])
	sites.mu.RLock()
	s := sites.by[p]
	sites.mu.RUnlock()
	if s != 0 {
		return s
	}
	sites.mu.Lock()
	defer sites.mu.Unlock()
	if s = sites.by[p]; s == 0 {
		if sites.by == nil {
			sites.by = make(map[pcs]Site)
		}
		sites.list = append(sites.list, p)
		s = Site(len(sites.list))
		sites.by[p] = s
	}
	return s
}

// String returns the frames in the form of a panic's, without those of Haven in
// front.
func (s Site) String() string {
	if s == 0 {
		return ""
	}
	return leak.Frames(s.pcs())
}

// pcs returns the program counters, none of site 0.
func (s Site) pcs() []uintptr {
	if s == 0 {
		return nil
	}
	sites.mu.RLock()
	p := sites.list[s-1]
	sites.mu.RUnlock()
	n := 0
	for n < len(p) && p[n] != 0 {
		n++
	}
	return p[:n]
}
