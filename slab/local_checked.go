package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A Local in the check build: as a cache, it knows its objects by their addresses,
// and those that are freed wait in a queue before they go to the magazine. So each
// mistake is found at the Free that makes it.

// begin begins an operation, in which nothing calls back into the program.
func (l *local) begin() *check.Busy {
	l.busy.Get().Enter(check.Here(3), l.title)
	return l.busy.Get()
}

// allocWatched is Alloc where each operation is watched.
func (l *local) allocWatched() unsafe.Pointer {
	defer l.begin().Exit()
	p := l.pop()
	if check.Enabled {
		l.checked.Get().Alloc(p, "", l.title(), l.typ)
	}
	sanitize.Grant(p, l.size)
	return p
}

// freeChecked is Free.
func (l *local) freeChecked(p unsafe.Pointer) {
	if bad := l.freeOne(p); bad != nil {
		check.Raise(bad)
	}
}

// freeOne is Free but for the report.
func (l *local) freeOne(p unsafe.Pointer) *check.Report {
	defer l.begin().Exit()
	if l.size == 0 {
		l.giveOne(p)
		return nil
	}
	if bad := l.checked.Get().Check(p, l.title()); bad != nil {
		return bad
	}
	l.wipe(p)
	l.checked.Get().Free(p, nil)
	return l.leave(false)
}

// leaveAll gives all objects that wait to the magazine.
func (l *local) leaveAll() {
	for l.checked.Get().Waiting() > 0 {
		if bad := l.leaveBusy(); bad != nil {
			check.Raise(bad)
		}
	}
}

func (l *local) leaveBusy() *check.Report {
	defer l.begin().Exit()
	return l.leave(true)
}

// leave gives objects that have waited long enough, or all, to the magazine, up to one
// that was written to.
func (l *local) leave(all bool) *check.Report {
	return l.checked.Get().Leave(all, func(h check.Held) {
		l.wipe(h.P)
		l.giveOne(h.P)
	})
}

// pop is Alloc, but for what is to be noted.
func (l *local) pop() unsafe.Pointer {
	if l.front.i == 0 {
		l.refill()
	}
	l.front.i--
	return l.front.mag[l.front.i]
}

// giveOne adds p to the magazine.
func (l *local) giveOne(p unsafe.Pointer) {
	l.front.mag[l.front.i] = p
	l.front.i++
	if l.front.i == l.front.full {
		l.mustSettle()
	}
}

// title returns what reports call the Local.
func (l *local) title() string { return "a Local" }
