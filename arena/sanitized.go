package arena

import (
	"reflect"

	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer a lane says what it hands out and takes back: see package
// internal/sanitize. The free part of the open chunk, and all of a chunk that is at
// rest or spare, is withheld.

// newGranted is New with -asan and -msan.
func (l *Lane[T]) newGranted() *T {
	if l.i == 0 {
		l.grow()
	}
	l.i--
	sanitize.GrantAll(l.free[l.i : l.i+1])
	return &l.free[l.i]
}

// takeBack clears elements that were handed out.
func takeBack[T any](s []T) {
	clear(s)
	if sanitize.Enabled {
		sanitize.RevokeAll(s)
	}
}

// revoke takes back all that was handed out, as it is.
func (l *Lane[T]) revoke() {
	if !sanitize.Enabled || !l.active {
		return
	}
	lo, hi := l.bounds()
	sanitize.RevokeAll(l.buf[:lo])
	sanitize.RevokeAll(l.buf[hi:])
	if l.rest == nil {
		return
	}
	for _, s := range l.rest.full {
		sanitize.RevokeAll(s.buf[:s.lo])
		sanitize.RevokeAll(s.buf[s.hi:])
	}
	for _, s := range l.rest.large {
		sanitize.RevokeAll(s)
	}
}

// revoke takes back all that was handed out, as it is.
func (l *dynamicLane) revoke() {
	if !sanitize.Enabled || !l.active {
		return
	}
	for i, c := range l.chunks[:l.cur+1] {
		n := c.Len()
		if i == l.cur {
			n -= l.left
		}
		l.revokeRange(c, 0, n)
	}
}

// revokeRange takes back c[from:to].
func (l *dynamicLane) revokeRange(c reflect.Value, from, to int) {
	if sanitize.Enabled {
		sanitize.RevokeRange(c.UnsafePointer(), uintptr(from*l.size), uintptr(to*l.size))
	}
}
