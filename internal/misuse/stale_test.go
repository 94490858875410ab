package misuse_test

import (
	"runtime"
	"strings"
	"unsafe"
)

func linked(_ *memory, y typ) bool { return y.links }

// values are what calls and look-ups need that is not in the memory.
var values = map[string]int{"here": 1}

// Uses of memory that was released.
var stale = []*scenario{
	{name: "a number written after the release", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		t.misuse()
		*o.at(t.at(o)) = 0xA7
	}},
	{name: "a number read after the release", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		t.misuse()
		sink = *o.at(t.at(o))
	}},
	{name: "a number read after the release and a collection", make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		runtime.GC()
		runtime.GC()
		t.misuse()
		sink = *o.at(t.at(o))
	}},
	{name: "a number written when the memory is in use again", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		t.reuse(o)
		t.misuse()
		*o.at(t.at(o)) = 0xA7
	}},
	{name: "a number read when the memory is in use again", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		t.m.release(t, o)
		t.reuse(o)
		t.misuse()
		sink = *o.at(t.at(o))
	}},
	{name: "a pointer written after the release", only: linked, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		t.m.release(t, o)
		t.misuse()
		h.next = h
	}},
	{name: "a pointer followed after the release", only: linked, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.next = h
		t.m.release(t, o)
		t.misuse()
		sink = byte(h.next.n[1])
	}},
	{name: "a string read after the release", only: linked, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.text = unsafe.String((*byte)(unsafe.Pointer(&h.n)), 16)
		t.m.release(t, o)
		t.misuse()
		sink = byte(len(strings.Clone(h.text[:3])))
	}},
	{name: "a slice's element written after the release", only: linked, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.list = h.n[:]
		t.m.release(t, o)
		t.misuse()
		h.list[1] = 7
	}},
	{name: "an interface used after the release", only: linked, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.any = h
		t.m.release(t, o)
		t.misuse()
		sink = byte(h.any.(*head).n[0])
	}},
	{name: "a map read after the release", only: seen, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.m = values
		t.m.release(t, o)
		t.misuse()
		sink = byte(h.m["here"])
	}},
	{name: "a function called after the release", only: seen, make: func(t *trial) {
		o := t.m.alloc(t)
		h := o.head()
		h.f = func() int { return len(values) + int(o.size) }
		t.m.release(t, o)
		t.misuse()
		sink = byte(h.f())
	}},
	{name: "a pointer kept in a global variable, not used", make: func(t *trial) {
		o := t.m.alloc(t)
		kept = o.p
		t.undo = append(t.undo, func() { kept = nil })
		t.misuse()
		t.m.release(t, o)
	}},
	{name: "a pointer kept by a goroutine that waits", make: func(t *trial) {
		o := t.m.alloc(t)
		c, done := make(chan unsafe.Pointer), make(chan bool)
		go func(p unsafe.Pointer) { c <- p; close(done) }(o.p)
		t.undo = append(t.undo, func() { <-c; <-done })
		t.misuse()
		t.m.release(t, o)
	}},
	{name: "a number read by another goroutine before the release, unsynchronised", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		b := o.at(t.at(o))
		s := newTurns()
		s.other(1, func() {
			t.misuse()
			sink = *b
		}, 2)
		s.turn(1)
		s.await(2)
		t.m.release(t, o)
		s.join()
	}},
	{name: "a number written by another goroutine after the release, unsynchronised", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		b := o.at(t.at(o))
		s := newTurns()
		s.other(1, func() {
			t.misuse()
			*b = 0xA7
		}, 2)
		t.m.release(t, o)
		s.turn(1)
		s.await(2)
		s.join()
	}},
	{name: "a number written by another goroutine when the memory is in use again, unsynchronised", offsets: true, make: func(t *trial) {
		o := t.m.alloc(t)
		b := o.at(t.at(o))
		s := newTurns()
		s.other(1, func() {
			t.misuse()
			*b = 0xA7
		}, 2)
		t.m.release(t, o)
		if t.reuse(o) {
			*b = 1 // the new owner
		}
		s.turn(1)
		s.await(2)
		s.join()
	}},
}

var kept unsafe.Pointer

// seen is where functions and maps may be stored.
func seen(m *memory, y typ) bool { return y.links && !m.untyped }

// reuse allocates until the memory of o is in use again, and reports whether it
// came to that.
func (t *trial) reuse(o object) bool {
	for range 40 {
		if t.m.alloc(nil).p == o.p {
			return true
		}
	}
	say("alone")
	return false
}
