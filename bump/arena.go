package bump

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/track"
)

// An Arena is a growing piece of memory that the garbage collector does not
// scan. The zero Arena is ready. It is for one goroutine at a time and must not
// be copied after first use; what it handed out may be read by any goroutine.
//
// Pointers stored in an arena's memory keep alive only what is in the same
// arena. The Arena itself may be dropped while its memory is in use.
//
// The fields describe the open chunk, in offsets from data:
//
//	data [ low: slices, bytes │ free │ high: objects ] size, slack
//	     0                lo  base   hi              size
//
// where base points to lo rounded up to a multiple of 8 and left is hi-base.
// Over all chunks, in bytes,
//
//	reserved = in use + idle + gaps + overhead
type Arena struct {
	_    noCopy
	busy check.Only[check.Busy]
	base unsafe.Pointer // low end of the free part, a multiple of 8
	left uintptr        // free bytes from base

	open block   // the open chunk; its lo is kept, its hi follows from left
	last uintptr // where the latest low allocation starts
	root *root   // nil before the first allocation and after Free
	self *Arena  // finds copies

	peak   chunk.Peak // of bytes
	high   uintptr    // most bytes in use, up to the last Reset
	resets uint64
	freed  bool

	due track.Countdown // Resets to the next one that is watched

	name     string
	limit    int           // 0: none
	retain   int           // 0: the default; -1: nothing
	reserved int           // bytes in chunks
	chunks   int           // that reserved is made of
	payer    account.Payer // a memory context, or nil
	made     *leak.Site    // where that was made, if sampled
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// MaxAlign is the largest alignment in bytes that an arena gives.
const MaxAlign = 4096

// maxSize leaves room for what an object's chunk holds beside it.
const maxSize = chunk.MaxBytes - MaxAlign - 4*overhead

// Alloc returns size zero bytes whose address is a multiple of align. A size of
// 0 gives a pointer that must not be used for more than comparing. It panics if
// align is not a power of two of at most [MaxAlign], if size exceeds the address
// space, if a is nil, and after Free, and with a [*LimitError] if a limit is reached. It
// costs a few nanoseconds.
func (a *Arena) Alloc(size, align uintptr) unsafe.Pointer {
	p, err := a.alloc("Alloc", size, align)
	if err != nil {
		panic(err)
	}
	return p
}

// TryAlloc is [Arena.Alloc], but returns the error, which Is [ErrLimit], with which
// Alloc panics. The arena stays usable.
func (a *Arena) TryAlloc(size, align uintptr) (unsafe.Pointer, error) {
	return a.alloc("TryAlloc", size, align)
}

func (a *Arena) alloc(op string, size, align uintptr) (unsafe.Pointer, error) {
	checkAlign(op, align)
	checkSize(op, size)
	if a == nil || check.Enabled && a.self != a {
		a.unusable(op)
	}
	start, ok := a.fit(size, align)
	if !ok {
		if err := a.growFor(op, size, align); err != nil {
			return nil, err
		}
		start, _ = a.fit(size, align)
	}
	a.take(start, start+size)
	a.noteLow(size)
	a.grant(start, size)
	// SAFETY: GC.md fact 5: start is at most the size of the open chunk, behind
	// which slack bytes remain.
	return unsafe.Add(a.open.data, start), nil
}

// fit returns where in the open chunk size bytes aligned to align would start,
// and whether they fit there.
func (a *Arena) fit(size, align uintptr) (start uintptr, ok bool) {
	if a.open.data == nil {
		return 0, false
	}
	start = a.open.lo + zone
	if sanitize.Poisons {
		start = apart(start)
		size += sanitize.Zone
	}
	// SAFETY: GC.md fact 13: heap memory does not move; the address is only
	// used to find the padding.
	start += -(uintptr(a.open.data) + start) & (align - 1)
	hi := a.hi()
	return start, start <= hi && roundUp(size) <= hi && roundUp(start+size+zone) <= hi
}

// take makes [start, end) the latest low allocation.
func (a *Arena) take(start, end uintptr) {
	hi := a.hi()
	a.last, a.open.lo = start, end+zone
	low := roundUp(end + zone)
	// SAFETY: GC.md fact 5: low is at most hi, and slack bytes follow.
	a.base = unsafe.Add(a.open.data, low)
	a.left = hi - low
	a.checkCursors()
}

// end returns the offset at which the latest low allocation ends.
func (a *Arena) end() uintptr {
	if zone > 0 && a.open.lo == 0 {
		return 0
	}
	return a.open.lo - zone
}

// hi returns the offset at which the open chunk's objects start.
func (a *Arena) hi() uintptr { return roundUp(a.open.lo) + a.left }

// roundUp rounds n up to a multiple of 8.
func roundUp(n uintptr) uintptr { return (n + 7) &^ 7 }

// grow opens a chunk with more than size bytes: [New]'s way when the open one
// is used up.
//
//go:noinline
func (a *Arena) grow(size uintptr) {
	checkSize("New", size)
	if err := a.growFor("New", size+8, 8); err != nil {
		panic(err)
	}
}

// growFor opens a chunk in which size bytes aligned to align fit.
func (a *Arena) growFor(op string, size, align uintptr) error {
	a.checkUsable(op)
	need := roundUp(size) + align + 2*zone
	if sanitize.Poisons {
		need += 2 * sanitize.Zone
	}
	if a.root == nil {
		a.root = new(root)
	}
	var next block
	if kept := a.root.chunks; a.open.data == nil && len(kept) == 1 {
		next = kept[0] // clean, from before a Reset
	}
	if next.size < need {
		if next.data != nil {
			// A kept chunk that is too small is left to the garbage collector
			// with its root, so that a Reset does not keep two.
			a.root = new(root)
			a.credit()
		}
		want := uintptr(a.peak.Want())
		if a.open.data != nil {
			want = chunk.Next(a.open.size+overhead, chunk.MaxGrowth)
		}
		total, err := a.charge(max(need, chunk.Usable(max(want, chunk.First))-overhead), need, size)
		if err != nil {
			return err
		}
		next = newBlock(a.root, total-overhead)
		a.root.add(next, a)
	}
	a.leave()
	a.open = next
	a.base, a.left, a.last = next.data, next.size, 0
	a.checkInvariants()
	return nil
}

// leave writes the state of the open chunk into the root's list.
func (a *Arena) leave() {
	if a.open.data == nil {
		return
	}
	a.open.hi = a.hi()
	for i := len(a.root.chunks) - 1; i >= 0; i-- {
		if b := &a.root.chunks[i]; b.data == a.open.data {
			*b = a.open
			return
		}
	}
}

// Reset takes back everything that was allocated and hands the same memory out
// again. It clears what was used, and costs that. An arena of several chunks
// goes on with one of the size that was needed. What was not needed since the last
// garbage collection but one is forgotten, and a chunk of more than Config.Retain is not
// kept. Once in a while nothing is, to find pointers that were kept: see StalePointers of
// package check. No pointer into the arena may be used afterwards: its bytes become other
// types. Reset panics after Free; on an unused arena it does nothing.
func (a *Arena) Reset() {
	a.checkUsable("Reset")
	a.resets++
	if a.root == nil {
		return
	}
	spent := a.spent()
	used := spent - a.zones()
	a.revoke()
	a.high = max(a.high, used)
	// The mark is of what a chunk takes that has room for all, counting the 8
	// bytes that New leaves free.
	a.peak.Note(int(spent+overhead+8), gccycle.Epoch())
	gccycle.CountSome(a.resets)
	keep := len(a.root.chunks) == 1 && !a.tooLarge(a.root.chunks[0])
	if check.Enabled {
		a.verify()
	}
	var r *track.Release // nil as a rule
	answer := track.Itself
	if d := a.due.Due(false); spent > 0 && (d != 0 || check.Enabled) {
		r = a.releasing(d)
		answer = a.offer(r, keep)
	}
	switch {
	case answer == track.Itself && keep:
		a.root.chunks[0].clear()
	case answer == track.Nothing || !keep:
		a.root = nil
		a.credit()
		a.peak.Cap(a.retained())
	}
	r.End()
	a.open, a.base, a.left, a.last = block{}, nil, 0, 0
	a.checkInvariants()
}

// tooLarge reports whether b should not be kept over a Reset. What one large
// alignment may take is never too large.
func (a *Arena) tooLarge(b block) bool {
	total := b.size + overhead
	return total > uintptr(a.retained()) || total > 2*MaxAlign && a.peak.Outgrown(int(b.size))
}

// clear makes a chunk zero where it was used. This is more than tidiness: the
// write barrier reads the old value of a word before it stores a pointer, and
// takes it for one (GC.md fact 6).
func (b *block) clear() {
	// SAFETY: GC.md fact 6: the bytes are not scanned, so they are cleared as
	// bytes, without write barriers; both parts lie within the chunk.
	clear(unsafe.Slice((*byte)(b.data), b.lo))
	clear(unsafe.Slice((*byte)(unsafe.Add(b.data, b.hi)), b.size-b.hi))
	b.lo, b.hi, b.allocs = 0, b.size, check.Only[uintptr]{}
}

// Free ends the arena. Nothing is reused: the memory stays as it is for as long as
// anything points into it, and then goes to the garbage collector, all of it
// together. Using the arena afterwards panics, and so does a second Free. A memory
// context's arena ends with the context: its Free panics.
func (a *Arena) Free() {
	a.checkUsable("Free")
	a.checkUnowned("Free")
	a.free()
}

func (a *Arena) free() {
	a.let()
	a.payer = nil
	a.freed = true
}

// Owns reports whether p points into memory of the arena. It costs a compare
// for each chunk.
func (a *Arena) Owns(p unsafe.Pointer) bool {
	if a == nil || a.root == nil || p == nil {
		return false
	}
	for i := len(a.root.chunks) - 1; i >= 0; i-- {
		b := &a.root.chunks[i]
		// SAFETY: GC.md fact 13: addresses of heap memory are compared, with
		// nothing in between that could end a chunk.
		if uintptr(p)-uintptr(b.data) <= b.size {
			return true
		}
	}
	return false
}

// checkUsable panics if the arena is nil, freed or a copy.
func (a *Arena) checkUsable(op string) {
	if a == nil || a.self != a || a.freed {
		a.unusable(op)
	}
}

//go:noinline
func (a *Arena) unusable(op string) {
	switch {
	case a == nil:
		panic("bump: " + op + " on a nil Arena: there is no heap of untyped memory to stand in for it")
	case a.self == nil:
		a.self = a
	case a.self != a:
		panic("bump: " + op + " on a copy of an Arena: pass a *Arena")
	default:
		panic(fmt.Sprintf("bump: %s after Free of %v", op, a))
	}
}

func checkAlign(op string, align uintptr) {
	if bits.OnesCount(uint(align)) != 1 || align > MaxAlign {
		panic(fmt.Sprintf("bump: %s: alignment %d: want a power of two from 1 to %d", op, align, MaxAlign))
	}
}

func checkSize(op string, size uintptr) {
	if size > maxSize {
		panic(fmt.Sprintf("bump: %s: %d bytes are more than the %d bytes of the address space", op, size, uint64(chunk.MaxBytes)))
	}
}

// checkCursors verifies the picture of the type's comment, in the check build only.
func (a *Arena) checkCursors() {
	if check.Enabled && a.open.data != nil && (a.last > a.end() || a.hi() > a.open.size ||
		unsafe.Add(a.open.data, roundUp(a.open.lo)) != a.base) {
		panic(fmt.Sprintf("bump: cursors out of place: %+v base %v left %d last %d", a.open, a.base, a.left, a.last))
	}
}

// checkInvariants verifies the equation there as well.
func (a *Arena) checkInvariants() {
	if !check.Enabled {
		return
	}
	a.checkCursors()
	if s := a.Stats(); s.Reserved != s.InUse+s.Idle+s.Gaps+s.Overhead {
		panic("bump: arena does not add up: " + s.String())
	} else if s.Reserved != a.reserved || s.Chunks != a.chunks {
		panic(fmt.Sprintf("bump: %d bytes in %d chunks are charged of %v", a.reserved, a.chunks, s))
	}
}
