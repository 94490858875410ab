package arena

import (
	"sync/atomic"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/gccycle"
)

// A fresh arena does not know how much it will hold, and what it takes from Go's heap
// costs by the byte. But the arenas of a program are alike. So the first chunk of a lane
// has the size that lanes of its type came to lately: between leastFirst and mostFirst
// bytes.
//
// A hint rises when a lane needs more than it says, and is halved by each garbage
// collection: the first arena that needs as much as before then makes it rise again.
// Types whose words meet in the table share a hint. Only lanes that never were through a
// Reset read hints; all others know their peak.

const (
	leastFirst = 128
	mostFirst  = 4 << 10
	hintBits   = 10
)

// hints are the numbers of bytes, above the epoch (see gccycle) in which they were noted.
var hints [1 << hintBits]atomic.Uint64

// hintOf returns the hint for the lane's type.
func (l *lane) hintOf() *atomic.Uint64 {
	return &hints[uint32(addr.TypeWord(l.front))*multiplier(0)>>(32-hintBits)]
}

// hinted returns the bytes that the first chunk should have. What the check build finds must
// not depend on what ran before.
func (l *lane) hinted() uintptr {
	if check.Enabled {
		return chunk.WithHeader(chunk.First)
	}
	h := l.hintOf().Load()
	return max(leastFirst, uintptr(h>>32)>>min(gccycle.Epoch()-uint32(h), 31))
}

// hint notes that a lane needs n elements more than it has.
func (l *lane) hint(n int) {
	if l.peak.Want() > 0 || l.a.firstChunk() > 0 {
		return
	}
	need := min(chunk.WithHeader(uintptr((l.inUse()+n)*l.size)), mostFirst)
	if need <= l.hinted() {
		return
	}
	gccycle.Count()
	l.hintOf().Store(uint64(min(chunk.Round(int(need)), mostFirst))<<32 | uint64(gccycle.Epoch()))
}

// firstChunk returns the bytes that lanes begin with by a setting, or 0.
func (a *Arena) firstChunk() uintptr {
	if a == nil {
		return 0
	}
	return uintptr(a.seldom().first)
}
