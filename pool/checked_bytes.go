package pool

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/stale"
)

// A Bytes in the check build: a buffer that is put is filled with the poison, and its
// slice header too. A second Put is one by the same header, and one of the same
// bytes by another.

func (b *Bytes) checks() bool { return b != nil && check.Poisons(b.name) }

// loan describes the first n bytes of s.
func (b *Bytes) loan(s []byte, n int) check.Loan {
	return check.Loan{
		P: unsafe.Pointer(unsafe.SliceData(s)), Type: reflect.ArrayOf(n, reflect.TypeFor[byte]()), Owner: b.title(), Part: true,
	}
}

// getChecked is Get.
func (b *Bytes) getChecked(n int) *[]byte {
	p := b.get(n)
	if b.checks() && n <= largest {
		b.loan(*p, cap(*p)).Got(unsafe.Pointer(p))
	}
	return p
}

// putChecked is Put.
func (b *Bytes) putChecked(p *[]byte) {
	b.once.Do(b.startZero)
	header := loanOf(unsafe.Pointer(p), reflect.TypeFor[[]byte](), b.title())
	header.Part = true
	if !ok(header) {
		return
	}
	s := *p
	if cap(s) > 0 && !ok(b.loan(s, 1)) {
		return
	}
	if uint(cap(s)-smallest) > largest-smallest {
		b.refuse(p)
		return
	}
	i := classOf(cap(s))
	size := classSize(i)
	s = s[:0:size]
	d := b.class(i)
	what := put(d.checked.Get(), b.loan(s, size), header.P)
	if what == nil {
		return
	}
	head := *what
	head.Type, head.Mem = header.Type, header.P
	var r *stale.Release
	at := unsafe.SliceData(s)
	if b.hooks.Load()&hookPut != 0 && b.unmark(header.P, at) {
		r = stale.Begin("pool", b.name, nil)
	}
	*p = nil
	d.wait(check.Waiter{What: []*check.Released{what, &head}, Cost: size, Back: func() {
		*p = nil
		*p = s // also for the collector to see: who has the header has the bytes
		if r != nil {
			return
		}
		if !b.dirty {
			clear(s[:size])
		}
		if magazine.Race {
			magazine.Release(header.P)
		}
		d.put(header.P, uint(size))
	}}, r, "[]uint8", at, size)
}
