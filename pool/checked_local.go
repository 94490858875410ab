package pool

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/layout"
)

// A Local in the check build: as a Pool.

func (l *local) checks() bool { return l.elem.Size() > 0 && check.Poisons(l.name) }

// begin begins an operation in which nothing calls back into the program.
func (l *local) begin() *check.Busy {
	l.busy.Get().Enter(check.Here(3), l.title)
	return l.busy.Get()
}

// getChecked is Get.
func (l *local) getChecked() unsafe.Pointer {
	if l.front().top == nil {
		l.fill(nil)
	}
	defer l.begin().Exit()
	x := l.take()
	if l.checks() {
		loanOf(x, l.elem, l.title()).Got(nil)
	}
	return x
}

// putChecked is Put.
func (l *local) putChecked(x unsafe.Pointer) {
	if x == nil || !l.checks() {
		l.put(nil, x)
		return
	}
	n := loanOf(x, l.elem, l.title())
	if !ok(n) {
		return
	}
	if l.reset != nil {
		l.callReset(x)
	}
	what := put(l.checked.Get(), n, nil)
	if what == nil {
		return
	}
	l.wait(x, n, what)
	leave(l.checked.Get(), false, l.max, none)
}

// wait has x wait.
func (l *local) wait(x unsafe.Pointer, n check.Loan, what *check.Released) {
	defer l.begin().Exit()
	object := reflect.NewAt(n.Type, x).Elem()
	restore := keep(object)
	object.SetZero()
	l.checked.Get().Wait(check.Waiter{
		What: []*check.Released{what}, Cost: int(n.Type.Size()), Keeps: layout.HasPointers(n.Type),
		Back: func() {
			restore()
			l.keep(x)
		},
	})
}
