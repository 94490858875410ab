//go:build haven_check

package arena

import (
	"reflect"
	"time"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/escape"
)

// A dynamicShadow is what the check build knows of a dynamic lane: where each of its
// elements was allocated, in their order. Whole chunks that are taken back go into
// quarantine, as those of typed lanes do; a part of the open one, at a Release, is
// cleared only.
type dynamicShadow struct{ sites []check.Site }

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
	site := check.Release()
	r := &check.Released{
		Owner: l.a.title(), Type: l.typ, Mem: c.UnsafePointer(), N: n, Marks: marks, Site: site,
		Free: (c.Len() - n) * l.size,
	}
	if escape.Each() {
		name, made, typ, bytes, now := l.a.name, l.a.made, l.typ.String(), c.Len()*l.size, time.Now()
		r.Left = func() {
			w := escape.BeginAt(site, now, "arena", name, made)
			w.Add(typ, addr.Memory(c.UnsafePointer()), bytes)
			w.Watch()
		}
	}
	fresh := reflect.New(c.Type()).Elem() // settable, for clearRange
	fresh.Set(reflect.MakeSlice(c.Type(), c.Len(), c.Len()))
	l.chunks[i] = fresh
	check.Retire(r)
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
