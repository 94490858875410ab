package pool

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/sanitize"
)

// Under a sanitizer what lies idle is withheld, and what was put and dropped as well:
// see package internal/sanitize. Of an object that is its own memory, and not what it
// refers to; of a buffer its bytes, and the slice header.

// mustHave ends the program if the buffer was put already.
func (b *Bytes) mustHave(p *[]byte) {
	if !sanitize.Poisons || b == nil || p == nil {
		return
	}
	sanitize.MustHave(unsafe.Pointer(p), unsafe.Sizeof(*p))
	sanitize.MustHave(unsafe.Pointer(unsafe.SliceData(*p)), uintptr(cap(*p)))
}

// getGranted is Get with -asan and -msan.
func (l *local) getGranted() unsafe.Pointer {
	if l.front().top == nil {
		l.fill(nil)
	}
	x := l.take()
	sanitize.Grant(x, l.elem.Size())
	return x
}

// revokeBuffer takes a buffer back.
func revokeBuffer(p *[]byte) {
	if !sanitize.Enabled {
		return
	}
	sanitize.RevokeAll((*p)[:cap(*p)])
	sanitize.Revoke(unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// grantBuffer hands a buffer out.
func grantBuffer(p *[]byte) {
	if !sanitize.Poisons {
		return
	}
	sanitize.Grant(unsafe.Pointer(p), unsafe.Sizeof(*p))
	sanitize.GrantAll((*p)[:cap(*p)])
}
