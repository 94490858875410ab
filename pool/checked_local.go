package pool

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
)

// A Local in the check build: as a Pool.

func (l *Local[T]) checks() bool { return unsafe.Sizeof(*new(T)) > 0 && check.Poisons(l.name) }

// begin begins an operation in which nothing calls back into the program.
func (l *Local[T]) begin() *check.Busy {
	l.busy.Enter(check.Here(3), l.title)
	return &l.busy
}

// getChecked is Get.
func (l *Local[T]) getChecked() *T {
	if l.top == nil {
		l.fill()
	}
	defer l.begin().Exit()
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
	l.wait(x, n, what)
	leave(&l.checked, false, l.most(), none)
}

// wait has x wait.
func (l *Local[T]) wait(x *T, n check.Loan, what *check.Released) {
	defer l.begin().Exit()
	restore := keep(x)
	wipe(x)
	l.checked.Wait(check.Waiter{
		What: []*check.Released{what}, Cost: int(n.Type.Size()), Keeps: layout.HasPointers(n.Type),
		Back: func() {
			restore()
			l.keep(x)
		},
	})
}
