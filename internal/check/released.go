package check

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/layout"
)

// Released is a piece of memory that was taken back: elements of one type, one
// behind the other.
type Released struct {
	Owner string       // `arena "request"`
	Type  reflect.Type // of an element
	Mem   unsafe.Pointer
	N     int    // elements
	Marks []Mark // allocations in it, by their first element, in order; or none
	Ends  []Site // allocations of one element each, from the last element down; or none
	From  int    // elements from here
	To    int    // up to here were never handed out
	Site  Site   // of the release

	told    bool     // a report was made
	page    uintptr  // what pointer words hold
	untyped *untyped // nil for elements of one type
}

// A Mark says where the allocation that begins at an element was made.
type Mark struct {
	At   uint32
	Site Site
}

// String says whose memory it is.
func (r *Released) String() string {
	if r.untyped != nil {
		return fmt.Sprintf("%d bytes of %s", r.untyped.size, r.Owner)
	}
	if n := r.N - (r.To - r.From); n != 1 {
		return fmt.Sprintf("%d × %v of %s", n, r.Type, r.Owner)
	}
	return fmt.Sprintf("a %v of %s", r.Type, r.Owner)
}

// siteOf returns where the allocation of element i was made.
func (r *Released) siteOf(i int) Site {
	if k := r.N - 1 - i; k < len(r.Ends) {
		return r.Ends[k]
	}
	k := sort.Search(len(r.Marks), func(k int) bool { return int(r.Marks[k].At) > i })
	if k == 0 {
		return 0
	}
	return r.Marks[k-1].Site
}

// shownPlaces is how many places of allocations a report shows.
const shownPlaces = 3

// allocations returns the stacks of the allocations: of the first places, if there are
// several.
func (r *Released) allocations() string {
	p := r.places()
	return p.String()
}

// places returns the first places of the allocations.
func (r *Released) places() (p places) {
	for i := range r.Marks {
		p.add(r.Marks[i].Site)
	}
	for i := len(r.Ends) - 1; i >= 0; i-- {
		p.add(r.Ends[i])
	}
	return p
}

// places are the first places of many, one more than are shown.
type places struct {
	sites [shownPlaces + 1]Site
	n     int
}

func (p *places) add(s Site) {
	if p.n < len(p.sites) && !slices.Contains(p.sites[:p.n], s) {
		p.sites[p.n] = s
		p.n++
	}
}

// String returns the stacks of those that are shown.
func (p *places) String() string {
	var text strings.Builder
	for i, s := range p.sites[:p.n] {
		switch {
		case i == shownPlaces:
			text.WriteString("or elsewhere\n")
			return text.String()
		case i > 0:
			text.WriteString("or at\n")
		}
		text.WriteString(s.String())
	}
	return text.String()
}

// Pattern is what bytes hold that are neither of a pointer nor of a length.
const Pattern = 0xDB

const wordSize = unsafe.Sizeof(uintptr(0))

// size returns the bytes of all elements.
func (r *Released) size() uintptr {
	if r.untyped != nil {
		return r.untyped.size
	}
	return uintptr(r.N) * r.Type.Size()
}

// Bytes returns the size of the memory.
func (r *Released) Bytes() int { return int(r.size()) }

// weight returns the bytes that r keeps while it is in quarantine.
func (r *Released) weight() int {
	n := int(r.size()) + int(unsafe.Sizeof(*r)) + cap(r.Marks)*int(unsafe.Sizeof(Mark{})) + cap(r.Ends)*int(unsafe.Sizeof(Site(0)))
	if r.untyped != nil {
		n += (cap(r.untyped.low) + cap(r.untyped.high)) * int(unsafe.Sizeof(Extent{}))
	}
	return n
}

// Poison fills the memory, which must be zero: the collector has to see what a
// pointer word held before it is written to by hand.
func (r *Released) Poison() {
	if r.untyped != nil {
		r.poisonUntyped()
		return
	}
	at := uintptr(0)
	if len(wordsOf(r.Type)) > 0 && r.N > 0 {
		at = page(r, r.places())
	}
	r.PoisonWith(at)
}

// poisoned is whether anything was: before that, no number is poison.
var poisoned atomic.Bool

// PoisonWith is Poison with an address for the words that hold a pointer. It must be
// none of Go's heap.
func (r *Released) PoisonWith(at uintptr) {
	poisoned.Store(true)
	r.page = at
	r.poisonIn(0, r.From)
	r.poisonIn(r.To, r.N)
}

// poisonIn poisons the elements from from up to to.
func (r *Released) poisonIn(from, to int) {
	if from == to { // perhaps at the end of the memory, where no pointer may be
		return
	}
	words, size := wordsOf(r.Type), r.Type.Size()
	first := unsafe.Add(r.Mem, uintptr(from)*size)
	if len(words) == 0 {
		fillBytes(unsafe.Slice((*byte)(first), uintptr(to-from)*size))
		return
	}
	for e := range to - from {
		r.fill(unsafe.Add(first, uintptr(e)*size), words, size)
	}
}

// fill poisons one element.
func (r *Released) fill(p unsafe.Pointer, words []word, size uintptr) {
	for i, w := range words {
		// SAFETY: the word was nil, and what is stored is no address of Go's
		// heap, so the collector misses nothing without a write barrier.
		*(*uintptr)(unsafe.Add(p, uintptr(i)*wordSize)) = w.holds(r.page)
	}
	if n := uintptr(len(words)) * wordSize; n < size {
		fillBytes(unsafe.Slice((*byte)(unsafe.Add(p, n)), size-n))
	}
}

// pattern64 is eight bytes of the pattern.
const pattern64 = ^uint64(0) / 0xFF * Pattern

// fillBytes fills b with the pattern.
func fillBytes(b []byte) {
	for ; len(b) >= 8; b = b[8:] {
		binary.NativeEndian.PutUint64(b, pattern64)
	}
	for i := range b {
		b[i] = Pattern
	}
}

// intact returns how many bytes of b are the pattern before one that is not.
func intact(b []byte) int {
	n := len(b)
	for len(b) >= 8 && binary.NativeEndian.Uint64(b) == pattern64 {
		b = b[8:]
	}
	for len(b) > 0 && b[0] == Pattern {
		b = b[1:]
	}
	return n - len(b)
}

// patternWord is a word of the pattern.
const patternWord = ^uintptr(0) / 0xFF * Pattern

// Damage returns the report for the first difference from the poison, or nil.
func (r *Released) Damage() *Report {
	if r.untyped != nil {
		return r.damageUntyped()
	}
	if bad := r.DamageIn(0, r.From); bad != nil {
		return bad
	}
	return r.DamageIn(r.To, r.N)
}

// DamageIn is Damage of the elements from from up to to.
func (r *Released) DamageIn(from, to int) *Report {
	words, size := wordsOf(r.Type), r.Type.Size()
	if len(words) == 0 {
		bytes := unsafe.Slice((*byte)(r.Mem), r.size())
		first := from * int(size)
		if i := first + intact(bytes[first:to*int(size)]); i < to*int(size) {
			return r.damaged(i/int(size), uintptr(i)%size)
		}
		return nil
	}
	for e := from; e < to; e++ {
		if off := differs(unsafe.Add(r.Mem, uintptr(e)*size), words, size, r.page); off < size {
			return r.damaged(e, off)
		}
	}
	return nil
}

// differs returns where the element at p is not as fill left it, or size.
func differs(p unsafe.Pointer, words []word, size, page uintptr) uintptr {
	for i, w := range words {
		if *(*uintptr)(unsafe.Add(p, uintptr(i)*wordSize)) != w.holds(page) {
			return uintptr(i) * wordSize
		}
	}
	n := uintptr(len(words)) * wordSize
	if n < size {
		n += uintptr(intact(unsafe.Slice((*byte)(unsafe.Add(p, n)), size-n)))
	}
	return n
}

// damaged returns the report for a write at an offset into element e.
func (r *Released) damaged(e int, off uintptr) *Report {
	size := r.Type.Size()
	p := unsafe.Add(r.Mem, uintptr(e)*size)
	at := off &^ (wordSize - 1)
	n := min(wordSize, size-at)
	path := layout.PathAt(r.Type, off)
	if path == "" {
		path = fmt.Sprintf("byte %d", off)
	}
	where := ""
	if r.N > 1 {
		where = fmt.Sprintf(" of element %d", e)
	}
	return &Report{
		What:      "write after release",
		Detail:    fmt.Sprintf("%s%s of %v at %p holds % x", path, where, r.Type, p, unsafe.Slice((*byte)(unsafe.Add(p, at)), n)),
		Memory:    r.String(),
		Allocated: r.siteOf(e).String(),
		Released:  r.Site.String(),
	}
}
