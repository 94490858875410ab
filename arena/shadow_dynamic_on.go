//go:build haven_check

package arena

import (
	"reflect"

	"github.com/haven-mem/haven/internal/check"
)

// A dynamicShadow is what the check build knows of a dynamic lane: where each of its
// elements was allocated, in their order. Whole chunks that are taken back go into
// quarantine, as those of typed lanes do; a part of the open one, at a Release, is
// cleared only.
type dynamicShadow struct{ sites []check.Site }

// begin begins an operation in which nothing calls back.
func (l *dynamicLane) begin() *check.Busy {
	l.a.busy.Enter(check.Here(3), l.a.title)
	return &l.a.busy
}

// noteNew takes down that an element is handed out.
func (l *dynamicLane) noteNew() { l.sites = append(l.sites, check.Here(3)) }

// retire puts the first n elements of chunk i into quarantine, and a new chunk in the
// place of it.
func (l *dynamicLane) retire(i, n int) {
	if n == 0 || l.size == 0 || !check.Poisons(l.a.name) {
		return
	}
	first := 0
	for _, c := range l.chunks[:i] {
		first += c.Len()
	}
	marks := make([]check.Mark, n)
	for k := range marks {
		marks[k] = check.Mark{At: uint32(k), Site: l.sites[first+k]}
	}
	c := l.chunks[i]
	clearRange(c, 0, n)
	r := &l.a.all
	r.start(l.a.title)
	r.put(check.Released{Type: l.typ, Mem: c.UnsafePointer(), N: c.Len(), From: n, To: c.Len(), Marks: marks})
	fresh := reflect.New(c.Type()).Elem() // settable, for clearRange
	fresh.Set(reflect.MakeSlice(c.Type(), c.Len(), c.Len()))
	l.chunks[i] = fresh
}

// retireAll does it with all chunks in use, after which none of their elements is, and
// reports whether there is anything to put there.
func (l *dynamicLane) retireAll() bool {
	if !l.active {
		return false
	}
	for i := range l.chunks[:l.cur+1] {
		n := l.chunks[i].Len()
		if i == l.cur {
			n -= l.left
		}
		l.retire(i, n)
	}
	l.sites = l.sites[:0]
	l.cur, l.left = 0, l.chunks[0].Len()
	return l.size > 0 && check.Poisons(l.a.name)
}

// forgetFrom drops what is known of elements from the nth on.
func (l *dynamicLane) forgetFrom(n int) { l.sites = l.sites[:n] }
