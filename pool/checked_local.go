package pool

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
)

// A Local in the check build: as a Pool.

func (l *Local[T]) checks() bool { return unsafe.Sizeof(*new(T)) > 0 && check.Poisons(l.name) }

// getChecked is Get.
func (l *Local[T]) getChecked() *T {
	x := l.take()
	if l.checks() {
		loanOf(x, l.title()).Got(nil)
	}
	return x
}

// putChecked is Put.
func (l *Local[T]) putChecked(x *T) {
	if x == nil || !l.checks() {
		l.put(x)
		return
	}
	n := loanOf(x, l.title())
	if !ok(n) {
		return
	}
	if l.reset != nil {
		l.callReset(x)
	}
	what := put(&l.checked, n, nil)
	if what == nil {
		return
	}
	restore := keep(x)
	wipe(x)
	l.checked.Wait(check.Waiter{
		What: []*check.Released{what}, Cost: int(n.Type.Size()), Keeps: layout.HasPointers(n.Type),
		Back: func() {
			restore()
			l.keep(x)
		},
	})
	leave(&l.checked, false, l.most(), none)
}
