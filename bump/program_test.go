package bump_test

import (
	"unsafe"

	"github.com/haven-mem/haven/bump"
)

// maxOps bounds a program's length: each operation is compared with all that
// went before.
const maxOps = 400

// runArenaProgram runs a program of operations on an Arena, one or more bytes
// each, beside the model.
func runArenaProgram(program []byte) {
	m := &model{a: new(bump.Arena), program: program}
	for op := 0; op < maxOps && len(m.program) > 0; op++ {
		m.step()
		m.check()
		if op%16 == 0 {
			m.contents()
		}
	}
	m.contents()
}

func (m *model) step() {
	switch op := m.byte() % 64; {
	case op < 12:
		m.stepNew()
	case op < 24:
		n, align := m.size(), uintptr(1)<<(m.byte()%13)
		before := m.a.Stats()
		p := m.a.Alloc(n, align)
		m.low(p, n, align, before)
		m.handedOut("Alloc", p, n, align, true)
	case op < 38:
		m.stepRealloc()
	case op < 42:
		c := int(m.size())
		n := c * int(m.byte()) / 256
		switch m.byte() % 4 {
		case 0:
			makeSlice[uint16](m, n, c, "MakeSlice[uint16]")
		case 1:
			makeSlice[[3]uint64](m, n, c, "MakeSlice[[3]uint64]")
		case 2:
			makeSlice[*link](m, 0, 0, "MakeSlice[*link]")
		case 3:
			makeSlice[struct{}](m, n, c, "MakeSlice[struct{}]")
		}
	case op < 55:
		m.stepAppend()
	case op < 60:
		m.stepString()
	case op < 63:
		m.contents()
		m.a.Reset()
		m.resets++
		m.forget()
	default:
		// What was handed out stays as it is for ever.
		m.contents()
		m.a.Free()
		m.old = append(m.old, m.records...)
		m.forget()
		m.a, m.high, m.resets = new(bump.Arena), 0, 0
	}
}

// forget drops what a Reset or a Free ended.
func (m *model) forget() {
	m.high = max(m.high, m.inUse)
	m.records, m.links, m.wantLn = nil, nil, nil
	m.last, m.end, m.inUse = 0, 0, 0
}

func (m *model) stepNew() {
	switch m.byte() % 8 {
	case 0:
		newIn[byte](m, "New[byte]")
	case 1:
		newIn[uint64](m, "New[uint64]")
	case 2:
		newIn[[3]uint32](m, "New[[3]uint32]")
	case 3:
		newIn[[100]byte](m, "New[[100]byte]")
	case 4:
		newIn[struct{}](m, "New[struct{}]")
	case 5:
		newIn[[1501]uint16](m, "New[[1501]uint16]")
	default:
		l := newIn[link](m, "New[link]")
		if *l != (link{}) || uintptr(unsafe.Pointer(l))%unsafe.Alignof(*l) != 0 || !m.a.Owns(unsafe.Pointer(l)) {
			m.fail("New[link]: %v at %p", *l, l)
		}
		r := &record{what: "New[link]", p: unsafe.Pointer(l), want: make([]byte, unsafe.Sizeof(*l))}
		m.apart(r)
		l.id = uint64(len(m.links))
		if n := len(m.links); n > 0 {
			i := int(m.byte()) % n
			l.next, l.prev = m.links[i], m.links[n-1]
			m.links[i].prev, m.wantLn[i].prev = l, l
		}
		m.links, m.wantLn = append(m.links, l), append(m.wantLn, *l)
	}
}

// pick takes a record that may be grown, or nil.
func (m *model) pick() *record {
	i := int(m.byte())
	if i < 128 {
		i = 0 // the newest, most of the time
	}
	for k := len(m.records) - 1 - i%max(1, len(m.records)); k >= 0; k-- {
		if m.records[k].grow {
			return m.records[k]
		}
	}
	return nil
}

func (m *model) stepRealloc() {
	r := m.pick()
	align := uintptr(1) << (m.byte() % 7)
	before := m.a.Stats()
	if r == nil {
		n := m.size()
		p := m.a.Realloc(nil, 0, n, align)
		m.low(p, n, align, before)
		m.handedOut("Realloc of nil", p, n, align, true)
		return
	}
	// From a place inside the record, some or all of the bytes behind it.
	off := uintptr(0)
	if b := uintptr(m.byte()); b >= 192 {
		off = (b - 192) % uintptr(len(r.want)+1)
	}
	old := uintptr(len(r.want)) - off
	if b := uintptr(m.byte()); b >= 192 {
		old = min(old, b-192)
	}
	size := m.size()
	p := unsafe.Add(r.p, off)
	kept := append([]byte(nil), bytesAt(p, min(old, size))...)
	q := m.a.Realloc(p, old, size, align)
	aligned := uintptr(p)%align == 0
	inPlace := aligned && (size <= old || m.grows(uintptr(p), old, size, before))
	if uintptr(q)%align != 0 || !m.a.Owns(q) {
		m.fail("Realloc: %p, alignment %d", q, align)
	}
	if got := bytesAt(q, size); string(got[:len(kept)]) != string(kept) || !isZero(got[len(kept):]) {
		m.fail("Realloc of %d to %d bytes, in place %v: got %v, want %v and zeros", old, size, inPlace, got, kept)
	}
	switch {
	case inPlace != (p == q) && !(old == 0 && size == 0):
		m.fail("Realloc of %d bytes %d into %s (latest %v, ends there %v) to %d: in place %v, want %v",
			old, off, r.what, uintptr(r.p) == m.last, uintptr(p)+old == m.end, size, p == q, inPlace)
	case !inPlace:
		m.low(q, size, align, before)
		n := &record{what: "Realloc", p: q, want: make([]byte, size), grow: true}
		m.apart(n)
		n.want = m.put(n.bytes())
		m.records = append(m.records, n)
	case size > old:
		// What r had behind the growth was its, now it is part of it.
		if end := uintptr(q) + size; end > m.end {
			m.inUse += int(end - m.end)
			m.end = end
		}
		r.what += ", grown"
		r.want = make([]byte, max(off+size, 0))
		m.apart(r)
		r.want = m.put(r.bytes())
	default:
		r.want = r.want[:off+size]
	}
}

func (m *model) stepAppend() {
	r, align := m.pick(), unsafe.Alignof(uint32(0))
	n := int(m.byte()) % 40
	vs := make([]uint32, n)
	for i := range vs {
		vs[i] = uint32(i) * 0x01020304
	}
	var s []uint32
	foreign := m.byte()%4 == 0 || r == nil || uintptr(r.p)%align != 0
	if r != nil && len(r.want) > 1<<12 {
		foreign = true // or a short program would double its way to gigabytes
	}
	if foreign {
		s = append(make([]uint32, 0, 9), vs[:n/5]...)
	} else {
		// Of a record's bytes, a slice that may end before they do.
		c := len(r.want) / 4
		k := c - int(m.byte())%8
		s = unsafe.Slice((*uint32)(r.p), c)[:max(0, k-int(m.byte())%3):max(0, k)]
	}
	was := append([]uint32(nil), s...)
	before := m.a.Stats()
	var t []uint32
	if n == 1 {
		t = bump.Push(m.a, s, vs[0])
	} else {
		t = bump.Append(m.a, s, vs...)
	}
	if len(t) != len(s)+n {
		m.fail("Append: length %d, want %d", len(t), len(s)+n)
	}
	for i, v := range t {
		if i < len(was) && v != was[i] || i >= len(was) && v != vs[i-len(was)] {
			m.fail("Append: element %d is %d", i, v)
		}
	}
	bytes := uintptr(cap(s)) * 4
	p, q := uintptr(data(s)), uintptr(data(t))
	grown := max(len(t), 2*cap(s))
	if !m.grows(p, bytes, uintptr(grown)*4, before) {
		grown = len(t)
	}
	switch {
	case n == 0:
		if p != q {
			m.fail("Append of nothing moved")
		}
	case !foreign && len(t) <= cap(s):
		if p != q || cap(t) != cap(s) {
			m.fail("Append moved, with spare capacity")
		}
		r.want = append(r.want[:0], r.bytes()...)
	case !foreign && p+bytes == m.end && m.grows(p, bytes, uintptr(grown)*4, before):
		if p != q || cap(t) != grown {
			m.fail("Append moved, with room behind: capacity %d, want %d", cap(t), grown)
		}
		m.inUse += int(q + uintptr(cap(t))*4 - m.end)
		m.end = q + uintptr(cap(t))*4
		r.want = make([]byte, m.end-q)
		m.apart(r)
		r.want = append(r.want[:0], r.bytes()...)
	default:
		if p == q && cap(s) > 0 || cap(t) != max(len(t), 2*cap(s)) {
			m.fail("Append of %d to %d of %d: capacity %d, moved %v", n, len(s), cap(s), cap(t), p != q)
		}
		m.low(data(t), uintptr(cap(t))*4, align, before)
		if !isZero(bytesAt(unsafe.Add(data(t), len(t)*4), uintptr(cap(t)-len(t))*4)) {
			m.fail("Append: spare capacity is not zero")
		}
		c := &record{what: "Append", p: data(t), want: make([]byte, cap(t)*4), grow: true}
		m.apart(c)
		c.want = m.put(c.bytes())
		m.records = append(m.records, c)
	}
	if foreign {
		for i, v := range s[:cap(s)] {
			if i < len(was) && v != was[i] || i >= len(was) && v != 0 {
				m.fail("Append changed the foreign slice")
			}
		}
	}
}

func (m *model) stepString() {
	n := m.size()
	text := make([]byte, n)
	for i := range text {
		text[i] = byte(i) ^ byte(n)
	}
	before := m.a.Stats()
	s := bump.String(m.a, text)
	if s != string(text) {
		m.fail("String: got %q, want %q", s, text)
	}
	if n == 0 {
		return
	}
	p := unsafe.Pointer(unsafe.StringData(s))
	m.low(p, n, 1, before)
	r := &record{what: "String", p: p, want: text}
	m.apart(r)
	m.records = append(m.records, r)
}
