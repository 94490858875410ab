package bump_test

import (
	"fmt"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A record is an allocation as the naive model sees it: where it is, and the
// bytes it must hold.
type record struct {
	what string
	p    unsafe.Pointer
	want []byte
	grow bool // may be passed to Realloc and to Append
}

func (r *record) bytes() []byte { return bytesAt(r.p, uintptr(len(r.want))) }

func (r *record) holds(q uintptr) bool {
	return q-uintptr(r.p) < uintptr(len(r.want))
}

// A link is an object with pointers to others of the same arena.
type link struct {
	next *link
	id   uint64
	prev *link
}

// A model runs a program of operations on an arena and knows what each should
// do. Its methods panic with a text when the arena does something else.
type model struct {
	a       *bump.Arena
	program []byte
	records []*record
	old     []*record // of arenas that were freed
	links   []*link
	wantLn  []link

	// The latest low allocation: what Realloc may grow in place.
	last, end uintptr

	inUse, high int
	resets      uint64
	marker      byte
}

func (m *model) fail(format string, args ...any) {
	panic("model: " + fmt.Sprintf(format, args...) + "; " + m.a.Stats().String())
}

// byte takes the next byte of the program.
func (m *model) byte() byte {
	if len(m.program) == 0 {
		return 0
	}
	b := m.program[0]
	m.program = m.program[1:]
	return b
}

// size takes a size: most are small, some large.
func (m *model) size() uintptr {
	b := uintptr(m.byte())
	switch {
	case b < 160:
		return b
	case b < 240:
		return (b - 150) * 13
	}
	return (b - 239) * 2500
}

// put writes new contents to b and returns a copy of them.
func (m *model) put(b []byte) []byte {
	m.marker = m.marker*5 + 1
	fill(b, m.marker|1)
	if len(b) > 0 {
		b[0] = byte(len(b))
	}
	return append([]byte(nil), b...)
}

// handedOut checks n bytes at p that the arena just gave out, and records them.
func (m *model) handedOut(what string, p unsafe.Pointer, n, align uintptr, grow bool) *record {
	b := bytesAt(p, n)
	switch {
	case p == nil || uintptr(p)%align != 0:
		m.fail("%s: %p is not aligned to %d", what, p, align)
	case !isZero(b):
		m.fail("%s: not zero", what)
	case !m.a.Owns(p) || n > 0 && !m.a.Owns(unsafe.Add(p, n-1)):
		m.fail("%s: Owns is false", what)
	}
	r := &record{what: what, p: p, want: make([]byte, n), grow: grow}
	m.apart(r)
	r.want = m.put(b)
	m.records = append(m.records, r)
	return r
}

// apart checks that r shares no byte with another allocation.
func (m *model) apart(r *record) {
	n := uintptr(len(r.want))
	for _, o := range m.records {
		if o != r && n > 0 && len(o.want) > 0 && (o.holds(uintptr(r.p)) || r.holds(uintptr(o.p))) {
			m.fail("%s at %p of %d bytes overlaps %s at %p of %d bytes", r.what, r.p, n, o.what, o.p, len(o.want))
		}
	}
	for _, l := range m.links {
		if r.holds(uintptr(unsafe.Pointer(l))) {
			m.fail("%s overlaps a link", r.what)
		}
	}
}

// low notes an allocation from the low end, after one call.
func (m *model) low(p unsafe.Pointer, n, align uintptr, before bump.Stats) {
	now := m.a.Stats()
	grew := now.InUse - m.inUse
	if now.Chunks == before.Chunks && before.Resets == now.Resets && m.end != 0 && before.Idle > 0 {
		if want := int(uintptr(p) + n - m.end - 2*bump.Zone); grew != want {
			m.fail("%d more bytes in use, want %d", grew, want)
		}
	} else if grew < int(n) || grew >= int(n+align) {
		m.fail("%d more bytes in use for %d aligned to %d", grew, n, align)
	}
	m.inUse += grew
	m.last, m.end = uintptr(p), uintptr(p)+n
}

// high end: New's objects, which take multiples of 8 bytes and leave the latest
// low allocation alone, unless they need another chunk.
func newIn[T any](m *model, what string) *T {
	before := m.a.Stats()
	p := bump.New[T](m.a)
	size := unsafe.Sizeof(*p)
	m.inUse += int((size+7)&^7) + sanitize.Zone
	if m.a.Stats().Chunks != before.Chunks {
		m.last, m.end = 0, 0
	}
	if _, isLink := any(p).(*link); !isLink {
		m.handedOut(what, unsafe.Pointer(p), size, unsafe.Alignof(*p), false)
	}
	return p
}

// makeSlice checks MakeSlice and leaves the slice's spare capacity zero.
func makeSlice[T any](m *model, n, c int, what string) {
	before := m.a.Stats()
	s := bump.MakeSlice[T](m.a, n, c)
	size, align := unsafe.Sizeof(*new(T)), unsafe.Alignof(*new(T))
	if len(s) != n || cap(s) != c {
		m.fail("%s: length %d, capacity %d", what, len(s), cap(s))
	}
	m.low(data(s), uintptr(c)*size, align, before)
	m.handedOut(what, data(s), uintptr(c)*size, align, true)
}

// grows reports whether the old bytes at p can become size bytes where they
// are, by the rules of Realloc.
func (m *model) grows(p, old, size uintptr, s bump.Stats) bool {
	if p < m.last || p > m.end || m.end == 0 || old > m.end-p || old == 0 && p != m.end {
		return false
	}
	return size+sanitize.Zone <= m.end-p+uintptr(s.Idle)
}

// check compares everything with the model.
func (m *model) check() {
	s := m.a.Stats()
	m.high = max(m.high, m.inUse)
	switch {
	case s.InUse != m.inUse || s.Resets != m.resets || s.HighWater != m.high:
		m.fail("want %d bytes in use, %d resets, high water %d", m.inUse, m.resets, m.high)
	case s.Reserved != s.InUse+s.Idle+s.Gaps+s.Overhead:
		m.fail("does not add up")
	}
}

// contents checks every byte that should have been kept.
func (m *model) contents() {
	for _, rs := range [][]*record{m.records, m.old} {
		for _, r := range rs {
			if string(r.bytes()) != string(r.want) {
				m.fail("%s at %p: contents changed:\n got %v\nwant %v", r.what, r.p, r.bytes(), r.want)
			}
		}
	}
	for i, l := range m.links {
		if *l != m.wantLn[i] {
			m.fail("link %d is %v, want %v", i, *l, m.wantLn[i])
		}
	}
}
