package misuse_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"strconv"

	"github.com/haven-mem/haven/check"
)

// A trial is one mistake, with one kind of memory, a type and an offset. In the child
// process it prints what it does and what it is told, each line of its own after
// mark:
//
//	@ trial NAME
//	@ line WHAT FILE:LINE    of the allocation, the release, the bad access
//	@ now                    the mistake is made from here on
//	@ told HOW               by somebody, whose text follows
//	@ later                  the mistake was made
//	@ alone                  it cannot be made: objects lie apart from each other, or
//	                         their memory is not used again
//	@ done
const mark = "@ "

type trial struct {
	*scenario
	kind   kind
	typ    typ
	offset string // "first", "middle" or "last"; "" where it does not matter

	m     *memory
	after bool     // "later" was printed
	undo  []func() // at the end
}

func (t *trial) String() string {
	s := t.name + "/" + t.kind.name + "/" + t.typ.name
	if t.offset != "" {
		s += "/" + t.offset
	}
	return s
}

// say prints a line. It has no lock that would order goroutines which the mistake
// leaves unordered, as fmt and os have.
func say(line string) { print(mark, line, "\n") }

// tell prints what somebody said of the mistake.
func tell(how, text string) { print(mark, "told ", how, "\n", text, "\n") }

// note tells the line of the caller's caller, and so many lines below.
func (t *trial) note(what string, below int) {
	if t == nil {
		return
	}
	_, file, line, _ := runtime.Caller(2)
	say("line " + what + " " + filepath.Base(file) + ":" + strconv.Itoa(line+below))
}

// allocated tells its line, which is that of the allocation that returned v.
func allocated[V any](t *trial, v V) V {
	t.note("allocated", 0)
	return v
}

// released calls f, which releases, and tells its line.
func (t *trial) released(f func()) {
	t.note("released", 0)
	f()
}

// misuse tells that the next line makes the mistake.
func (t *trial) misuse() {
	t.note("bad", 1)
	say("now")
}

// later tells that the mistake was made, and what follows is what any program does.
func (t *trial) later() {
	if !t.after {
		t.after = true
		say("later")
	}
}

// refused tells that an operation said no, if it did.
func refused(ok bool) {
	if !ok {
		tell("refused", "")
	}
}

// at returns the offset into o that the trial is about.
func (t *trial) at(o object) int {
	first := 0
	if t.typ.links { // behind the pointers
		first = int(reflect.TypeFor[head]().Field(6).Offset)
	}
	switch t.offset {
	case "first":
		return first
	case "middle":
		return max(first, int(o.size)/2)
	default:
		return int(o.size) - 1
	}
}

// guarded calls f and tells how it panics.
func guarded(f func()) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(running.faults))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		if r := check.Explain(v); r != nil {
			report(r)
			return
		}
		_, fault := v.(interface{ Addr() uintptr })
		_, runtime := v.(runtime.Error)
		how := "panic"
		switch {
		case fault:
			how = "crash"
		case runtime:
			how = "zero"
		}
		tell(how, fmt.Sprintf("%v\n%s", v, debug.Stack()))
	}()
	f()
}

func report(r *check.Report) {
	tell(r.What, r.Error())
	overlapped.Store(true)
}

// A listener is the test that check.VerifyNoStale and check.VerifyNone are told of.
type listener struct {
	how string // what it tells
	end func()
}

func (l *listener) Helper()          {}
func (l *listener) Cleanup(f func()) { l.end = f }
func (l *listener) Errorf(format string, args ...any) {
	tell(l.how, fmt.Sprintf(format, args...))
}

// run makes the mistake, and does what a program would do afterwards.
func (t *trial) run() {
	say("trial " + t.String())
	l := listener{how: "stale pointer"}
	if running.stale {
		check.VerifyNoStale(&l)
	}
	t.m = t.kind.make()
	if running.warm {
		t.m.release(nil, t.m.alloc(nil))
	}
	// In a goroutine of its own, whose stack is gone afterwards.
	each := func(f func()) {
		done := make(chan bool)
		go func() {
			defer close(done)
			guarded(f)
		}()
		<-done
	}
	each(func() { t.make(t) })
	t.later()
	each(func() {
		if err := check.Verify(); err != nil {
			var list []error
			if j, ok := err.(interface{ Unwrap() []error }); ok {
				list = j.Unwrap()
			}
			for _, e := range list {
				if r, ok := e.(*check.Report); ok {
					report(r)
				}
			}
		}
	})
	each(func() { t.again() })
	if t.m.trim != nil {
		each(func() { t.m.trim(t) })
	}
	if running.stale {
		each(l.end)
	}
	for _, f := range t.undo {
		f()
	}
	runtime.KeepAlive(t.m.owner)
	t.m, t.undo = nil, nil
	say("done")
}

// again uses the memory as programs do, for more objects than magazines have.
func (t *trial) again() {
	n := 8
	switch size := t.typ.size(); {
	case size <= 512:
		n = 150
	case size <= 4096:
		n = 60
	}
	var list []object
	for range n {
		list = append(list, t.m.alloc(nil))
	}
	for i, o := range list {
		if t.m.single || i == 0 {
			guarded(func() { t.m.release(nil, o) })
		}
	}
}
