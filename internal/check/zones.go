package check

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/registry"
)

// zoneByte is what red zones hold: not a character, in UTF-8 at no place, and not
// what released memory holds.
const (
	zoneByte = 0xC1
	zone64   = ^uint64(0) / 0xFF * zoneByte
)

// Untyped is what the check build knows of the memory of an untyped arena: its
// chunks, in the order in which they were made, and where each allocation in them is,
// was made, and of which type it is. The latest chunk is the open one. A nil Untyped
// knows nothing, and its methods do nothing.
//
// The arena's memory refers to its Untyped and the other way round, so that they go
// together. The owner calls the methods from one goroutine at a time, and [Verify]
// looks from any.
type Untyped struct {
	mu      sync.Mutex
	owner   string
	regions []*region
	outside
}

// A region is a chunk. Allocations come up from its start and down from its end.
type region struct {
	mem       unsafe.Pointer
	size      uintptr
	low, high []Extent // in the order they were made
}

// arenas has all that live.
var arenas registry.List[Untyped]

// NewUntyped returns an Untyped for memory of that owner, or nil if nothing is to be
// checked there.
func NewUntyped(owner string) *Untyped {
	if !zoned() && !Poisons("") {
		return nil
	}
	u := &Untyped{owner: owner}
	u.begin()
	arenas.Add(u)
	return u
}

// zoned reports whether there are red zones. What is untyped has no name to choose by.
func zoned() bool { return set.redzone && set.chooses("") }

// Add takes down a new chunk, which is zero.
func (u *Untyped) Add(mem unsafe.Pointer, size uintptr) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.made(mem, size)
	low, high := spareExtents()
	u.regions = append(u.regions, &region{mem: mem, size: size, low: low, high: high})
}

func (u *Untyped) open() *region { return u.regions[len(u.regions)-1] }

// Low takes down an allocation of the open chunk, from its start up.
func (u *Untyped) Low(at, size uintptr, site Site) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.open()
	g.low = append(g.low, Extent{at: at, size: size, site: site})
	g.fence(at - Zone)
	g.fence(at + size)
	u.note(g, true)
}

// High takes down an allocation of a T of the open chunk, from its end down.
func (u *Untyped) High(at, size uintptr, t reflect.Type, site Site) {
	if u == nil {
		return
	}
	kind := kindOf(t)
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.open()
	g.high = append(g.high, Extent{at: at, size: size, site: site, kind: kind})
	g.fence(at - Zone)
	g.fence(at + size)
	u.note(g, false)
}

// fence makes a red zone.
func (g *region) fence(at uintptr) {
	if zoned() {
		binary.NativeEndian.PutUint64(g.zone(at), zone64)
	}
}

func (g *region) zone(at uintptr) []byte {
	// SAFETY: GC.md fact 5: the zones around extents lie within the chunk.
	return unsafe.Slice((*byte)(unsafe.Add(g.mem, at)), Zone)
}

// Latest returns the report for a damaged red zone of the latest allocation from the
// start of the open chunk, or nil.
func (u *Untyped) Latest() *Report {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.open()
	return u.damage(g, &g.low[len(g.low)-1])
}

// Grow makes that allocation one of size bytes; what it gains becomes zero where it
// was red zone.
func (u *Untyped) Grow(size uintptr) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.open()
	e := &g.low[len(g.low)-1]
	clear(g.zone(e.at + e.size))
	e.size = size
	g.fence(e.at + e.size)
}

// SetType says what the latest allocation from the start of the open chunk holds, if p
// points to it.
func (u *Untyped) SetType(p unsafe.Pointer, t reflect.Type) {
	if u == nil || t.Size() == 0 {
		return
	}
	kind := kindOf(t)
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.open()
	if k := len(g.low); k > 0 && unsafe.Add(g.mem, g.low[k-1].at) == p {
		g.low[k-1].kind = kind
	}
}

// Around returns the report for a damaged red zone of the allocation that p points
// into, or nil.
func (u *Untyped) Around(p unsafe.Pointer) *Report {
	if u == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if g, e := u.find(p); e != nil {
		return u.damage(g, e)
	}
	return nil
}

// find returns the allocation that p points into.
func (u *Untyped) find(p unsafe.Pointer) (*region, *Extent) {
	for _, g := range u.regions {
		// SAFETY: GC.md fact 13: addresses of heap memory are compared.
		at := uintptr(p) - uintptr(g.mem)
		if at >= g.size {
			continue
		}
		k := sort.Search(len(g.low), func(k int) bool { return g.low[k].at > at })
		if k > 0 && at <= g.low[k-1].at+g.low[k-1].size {
			return g, &g.low[k-1]
		}
		k = sort.Search(len(g.high), func(k int) bool { return g.high[k].at <= at })
		if k < len(g.high) && at <= g.high[k].at+g.high[k].size {
			return g, &g.high[k]
		}
	}
	return nil, nil
}

// Damage returns the reports for red zones that were written to, each once.
func (u *Untyped) Damage() (found []*Report) {
	if u == nil || !zoned() {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, g := range u.regions {
		for _, list := range [][]Extent{g.low, g.high} {
			for i := range list {
				if bad := u.damage(g, &list[i]); bad != nil {
					found = append(found, bad)
				}
			}
		}
	}
	return found
}

// damage returns the report for the red zones of e, and repairs them.
func (u *Untyped) damage(g *region, e *Extent) *Report {
	if !zoned() {
		return nil
	}
	before, behind := g.zone(e.at-Zone), g.zone(e.at+e.size)
	if binary.NativeEndian.Uint64(before) == zone64 && binary.NativeEndian.Uint64(behind) == zone64 {
		return nil
	}
	bad := func(b byte) bool { return b != zoneByte }
	i := slices.IndexFunc(before, bad)
	k := len(behind)
	for k > 0 && !bad(behind[k-1]) {
		k--
	}
	r := &Report{
		What: "overrun", Detail: fmt.Sprintf("%s behind %d bytes at %p: % x", account.Count(k, "byte"), e.size, unsafe.Add(g.mem, e.at), behind[:k]),
		Memory: e.describe(u.owner), Allocated: e.site.String(),
	}
	if k == 0 {
		r.What = "underrun"
		r.Detail = fmt.Sprintf("%s before %d bytes at %p: % x", account.Count(Zone-i, "byte"), e.size, unsafe.Add(g.mem, e.at), before[i:])
	}
	g.fence(e.at - Zone)
	g.fence(e.at + e.size)
	return r
}

// Forget drops all allocations, of chunks that are cleared or released.
func (u *Untyped) Forget() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, g := range u.regions {
		g.low, g.high = nil, nil
	}
	u.forget()
}

// Release describes chunk i, of which [0, lo) and [hi, size) were handed out, for
// [Retire]; nil if released memory is not to be poisoned.
func (u *Untyped) Release(i int, lo, hi uintptr, site Site) *Released {
	if u == nil || !Poisons("") {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	g := u.regions[i]
	x := untyped{size: g.size, lo: lo, hi: hi, low: g.low, high: g.high}
	g.low, g.high = nil, nil
	return &Released{Owner: u.owner, Mem: g.mem, N: 1, Site: site, untyped: &x}
}

// Clear makes u one of no chunks, for others of the same arena. All were released.
func (u *Untyped) Clear() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i, g := range u.regions {
		*g = region{} // pending ones may still be in its list's room
		u.regions[i] = nil
	}
	u.regions = u.regions[:0]
	u.forget()
}

func verifyUntyped() (found []*Report) {
	live := slices.Collect(arenas.All())
	for _, u := range live {
		found = append(found, u.Damage()...)
	}
	return append(found, verifyOutside(live)...)
}
