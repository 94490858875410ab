package arena

import (
	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer a lane says what it hands out and takes back: see package
// internal/sanitize. The free part of the open chunk, and all of a chunk that is at
// rest or spare, is withheld.

func (l *lane) grant(b block, from, to int) {
	sanitize.Grant(addr.Add(addr.Data(b.mem), from*l.size), uintptr((to-from)*l.size))
}

func (l *lane) withhold(b block) {
	if b.n > 0 {
		sanitize.Withhold(addr.Data(b.mem), uintptr(b.n*l.size))
	}
}

// revoke takes back all that was handed out, as it is.
func (l *lane) revoke() {
	if !sanitize.Enabled || !l.active {
		return
	}
	l.revokeRange(l.open, 0, *l.lo)
	l.revokeRange(l.open, *l.i, l.open.n)
	if l.rest == nil {
		return
	}
	for _, s := range l.rest.full {
		l.revokeRange(s.block, 0, s.lo)
		l.revokeRange(s.block, s.hi, s.n)
	}
	for _, b := range l.rest.large {
		l.revokeRange(b, 0, b.n)
	}
}

// revokeRange takes back elements of a chunk.
func (l *lane) revokeRange(b block, from, to int) {
	if sanitize.Enabled && from < to {
		sanitize.RevokeRange(addr.Data(b.mem), uintptr(from*l.size), uintptr(to*l.size))
	}
}
