// Package chunk decides how big the pieces are that allocators take from Go's
// heap, and how much of them survives a Reset.
//
// Three rules hold for every allocator of this module:
//
//   - Growth. A region starts with a small chunk and doubles, up to MaxGrowth
//     bytes a chunk, so that what lies idle stays below what is used.
//   - Fit. A chunk's bytes fill a size class of Go's heap. Above 512 bytes (128
//     where a word has 32 bits) and up to 32 KiB, a chunk with pointers carries
//     a header of 8 bytes (GC.md fact 2), so a chunk is eight bytes short of a
//     power of two there.
//   - Memory of the past. Idle memory costs nothing until a garbage collection has
//     passed without its use. So what is kept is what was needed since the last
//     collection but one: [Peak]. It is forgotten by collections, never by the number of
//     Resets, or a program whose rounds are uneven would allocate its large ones anew
//     each time.
package chunk

import (
	"math"
	"math/bits"
)

const (
	// First is the size in bytes of a region's first chunk: 512, less the header
	// that this size carries where a word has 32 bits.
	First = 512 - header*(1-bits.UintSize/64)
	// MaxGrowth is the largest chunk in bytes that growth asks for by itself.
	MaxGrowth = 1 << 20
	// Retain is how many bytes an allocator keeps over a Reset by default.
	Retain = 64 << 20

	// MaxBytes is the largest object that Go's heap can hold: 2⁴⁷ bytes, or
	// 2³¹-1 where addresses have 32 bits.
	MaxBytes = 1<<(31+16*(bits.UintSize/64)) - (1 - bits.UintSize/64)

	header = 8        // Go's malloc header
	large  = 32 << 10 // from this size on there is none, and sizes are whole pages
	page   = 8 << 10
	bare   = 8 * bits.UintSize * bits.UintSize / 64 // up to this size there is none, either
)

// Retained returns the bytes that may stay over a Reset by a setting: 0 for the default,
// -1 for none.
func Retained(setting int) int {
	if setting == 0 {
		return Retain
	}
	return max(setting, 0)
}

// Elems returns how many elements of size bytes a chunk of about want bytes
// should hold: at least one, and as many as fit the size class that want falls
// into. For elements without size it returns a large number.
func Elems(want, size uintptr) int {
	if size == 0 {
		return 1 << 20
	}
	return int(max(1, Usable(want)/size))
}

// FirstElems returns how many elements of size bytes fit into a first chunk of want bytes:
// at least one. For elements without size it is as [Elems].
func FirstElems(want, size uintptr) int {
	if size == 0 {
		return Elems(want, size)
	}
	if want > bare && want < large {
		want -= header
	}
	return int(max(1, want/size))
}

// WithHeader returns the bytes that a first chunk must have of which n are used.
func WithHeader(n uintptr) uintptr {
	if n > bare {
		n += header
	}
	return n
}

// NextElems returns the length in elements of size bytes of the chunk that
// follows one of last elements: as many as fit the next size class, or twice as
// many where that has no room for another large element.
func NextElems(last int, size, limit uintptr) int {
	bytes := uintptr(last) * size
	if 2*bytes < First {
		if n := FirstElems(1<<bits.Len(uint(max(2*bytes, 128)-1)), size); n > last {
			return n
		}
	}
	n := Elems(Next(bytes, limit), size)
	if n <= last {
		n = Elems(min(2*bytes, limit), size)
	}
	return n
}

// Fill returns n, or the few elements more that fit into the pages that a large
// chunk of n elements of size bytes takes.
func Fill(n int, size uintptr) int {
	if bytes := uintptr(n) * size; bytes >= large {
		return Elems(bytes, size)
	}
	return n
}

// Usable returns the bytes of the size class, or of the pages, that an
// allocation of want bytes gets, less the header it may carry.
func Usable(want uintptr) uintptr {
	switch {
	case want <= First:
		return First
	case want <= large-header:
		return 1<<bits.Len(uint(want+header-1)) - header
	}
	return (want + page - 1) &^ (page - 1)
}

// Next returns the size in bytes of the chunk that follows one of last bytes:
// the size class that is twice as large, but no more than limit.
func Next(last, limit uintptr) uintptr {
	// Less the header, or 512 would skip the class of 1024.
	return min(max(2*last, First+header)-header, limit)
}

// Round rounds n up to the next of four steps between powers of two, so that a
// region made to measure has a little room to spare and small changes of the
// load do not make it a new one. The result is at most a quarter above n.
func Round(n int) int {
	if n <= 4 {
		return n
	}
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) &^ (step - 1)
}

// A Peak is the most elements (or bytes) that were in use at one time since the last
// garbage collection but one. The zero Peak is ready. It counts up to 4,294,967,295,
// which stands for all that is more.
//
//	collections    │        │        │        │
//	in use          ▂█▃▁  ▂▁  ▁ ▂▁ ▁   ▁▂ ▁ ▁
//	the peak        ▂███████████████▂▂▂▂▂▂▂▂▂▂
type Peak struct {
	now    uint32 // the most since the last collection
	before uint32 // the most between that and the one before
	epoch  uint32 // see gccycle.Epoch
}

// Note records that used were in use up to a Reset in an epoch.
func (p *Peak) Note(used int, epoch uint32) {
	if epoch != p.epoch {
		p.turn(epoch)
	}
	p.now = max(p.now, uint32(min(uint(used), math.MaxUint32)))
}

// turn begins an epoch.
func (p *Peak) turn(epoch uint32) {
	p.before = 0
	if epoch-p.epoch == 1 {
		p.before = p.now
	}
	p.now, p.epoch = 0, epoch
}

// Covers reports whether Note of so many in an epoch would change nothing.
func (p *Peak) Covers(used int, epoch uint32) bool {
	return epoch == p.epoch && uint(used) <= uint(p.now)
}

// Idle returns the number of collections since the latest Note.
func (p *Peak) Idle(epoch uint32) uint32 { return epoch - p.epoch }

// Cap lowers the mark to n if it is above.
func (p *Peak) Cap(n int) {
	most := uint32(min(uint(n), math.MaxUint32))
	p.now, p.before = min(p.now, most), min(p.before, most)
}

func (p *Peak) most() int { return int(max(p.now, p.before)) }

// Want returns the size of the region to make for this mark.
func (p *Peak) Want() int { return Round(p.most()) }

// Outgrown reports whether a region of have is more than twice what the mark
// asks for.
func (p *Peak) Outgrown(have int) bool {
	n := p.most()
	return have > 2*n && have > 2*Round(n) && uint32(n) != math.MaxUint32
}
