package arena

import (
	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer a lane says what it hands out and takes back: see package
// internal/sanitize. The free part of the open chunk, and all of a chunk that is at
// rest or spare, is withheld.

func (l *lane) grant(from, to int) {
	sanitize.Grant(addr.Add(l.base, from*l.size), uintptr((to-from)*l.size))
}

func (l *lane) withhold() {
	if l.n > 0 {
		sanitize.Withhold(addr.Add(l.base, 0), uintptr(l.n*l.size))
	}
}

// revoke takes back all that was handed out, as it is.
func (l *lane) revoke() {
	if !sanitize.Enabled || !l.active {
		return
	}
	l.revokeRange(l.base, 0, *l.lo)
	l.revokeRange(l.base, *l.i, l.n)
	if l.rest == nil {
		return
	}
	for _, s := range l.rest.full {
		l.revokeRange(s.base(), 0, s.lo)
		l.revokeRange(s.base(), s.hi, s.n)
	}
	for _, b := range l.rest.large {
		l.revokeRange(b.base(), 0, b.n)
	}
}

// revokeRange takes back elements of the chunk that begins at base.
func (l *lane) revokeRange(base *byte, from, to int) {
	if sanitize.Enabled && from < to {
		sanitize.Revoke(addr.Add(base, from*l.size), uintptr((to-from)*l.size))
	}
}
