//go:build haven_check

package check

import (
	"reflect"
	"runtime"
	"testing"
	"time"
	"unsafe"
)

type lent struct {
	next *lent
	n    [5]int
}

func loanOf(p unsafe.Pointer) Loan {
	return Loan{P: p, Type: reflect.TypeFor[lent](), Owner: "a test"}
}

func loansKnown() int {
	loans.mu.Lock()
	defer loans.mu.Unlock()
	n := 0
	for _, t := range loans.tables {
		for _, list := range t {
			n += len(list)
		}
	}
	return n
}

func knows(p uintptr) bool {
	loans.mu.Lock()
	defer loans.mu.Unlock()
	return at(p) != nil
}

// eventually collects garbage until ok, for ten seconds.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); runtime.GC() {
		if time.Now().After(end) {
			t.Fatal("still not so:", what)
		}
	}
}

// Each address in an object is that of the object, and no other one is.
func TestLoanAt(t *testing.T) {
	const size = unsafe.Sizeof(lent{})
	list := make([]lent, 100)
	for i := range list {
		if i%3 == 0 {
			loanOf(unsafe.Pointer(&list[i])).Got(nil)
		}
	}
	first := uintptr(unsafe.Pointer(&list[0]))
	loans.mu.Lock()
	defer loans.mu.Unlock()
	for off := range uintptr(len(list)) * size {
		x := at(first + off)
		i := off / size
		if (x != nil) != (i%3 == 0) || x != nil && x.first != first+i*size {
			t.Fatalf("%d bytes into object %d: %+v", off%size, i, x)
		}
	}
	runtime.KeepAlive(list)
}

// Of what died nothing is known, and the index does not grow with what was seen.
func TestLoanEnds(t *testing.T) {
	var p uintptr
	func() {
		x := new(lent)
		p = uintptr(unsafe.Pointer(x))
		loanOf(unsafe.Pointer(x)).Got(nil)
		if !knows(p) {
			t.Fatal("it is not known")
		}
		runtime.KeepAlive(x)
	}()
	eventually(t, "the object is forgotten", func() bool { return !knows(p) })
	for range 20 {
		for range 1000 {
			loanOf(unsafe.Pointer(new(lent))).Got(nil)
		}
		runtime.GC()
	}
	if n := loansKnown(); n > 10000 {
		t.Errorf("%d objects are known, of 1000 at a time", n)
	}
}

// What was dropped is known for a while.
func TestLoanDropped(t *testing.T) {
	x := new(lent)
	l := loanOf(unsafe.Pointer(x))
	r, bad := new(Idle).Put(l, nil)
	if bad != nil {
		t.Fatal(bad)
	}
	Dropped(r)
	if l.Check() == nil {
		t.Error("it is not known any more")
	}
	for range 20 {
		for range 1000 {
			loanOf(unsafe.Pointer(new(lent))).Got(nil)
		}
		runtime.GC()
	}
	if l.Check() != nil {
		t.Error("it is still known")
	}
	runtime.KeepAlive(x)
}

var global lent

// A global variable is idle for as long as there is a pool that has it.
func TestLoanOfGlobal(t *testing.T) {
	l := loanOf(unsafe.Pointer(&global))
	l.Got(nil)
	if knows(uintptr(l.P)) {
		t.Error("a global variable in use is known")
	}
	func() {
		q := new(Idle)
		if _, bad := q.Put(l, nil); bad != nil {
			t.Fatal(bad)
		}
		if l.Check() == nil {
			t.Error("it is not known to be idle")
		}
		runtime.KeepAlive(q)
	}()
	eventually(t, "it is nobody's", func() bool { return l.Check() == nil })
}

// What waits in a queue that is gone does not count.
func TestWaitingEnds(t *testing.T) {
	before := waiting.Load()
	func() {
		q := new(Idle)
		for range 10 {
			l := loanOf(unsafe.Pointer(new(lent)))
			r, bad := q.Put(l, nil)
			if bad != nil {
				t.Fatal(bad)
			}
			q.Wait(Waiter{What: []*Released{r}, Cost: 1000, Back: func() {}})
		}
		if n, bytes := q.Waiting(); n != 10 || bytes != 10000 || waiting.Load() < before+10000 {
			t.Errorf("%d wait, %d bytes, %d in all", n, bytes, waiting.Load()-before)
		}
		runtime.KeepAlive(q)
	}()
	eventually(t, "nothing counts", func() bool { return waiting.Load() == before })
}

// A queue is bounded by objects, by bytes, and by those that may hold anything.
func TestIdleBounds(t *testing.T) {
	for _, c := range []struct {
		keeps                bool
		objects, bytes, want int
	}{
		{false, 1000, 1 << 20, 200},
		{false, 30, 1 << 20, 30},
		{false, 1000, 5000, 50},
		{true, 1000, 1 << 20, mostKeeps},
	} {
		q := new(Idle)
		left := 0
		for range 200 {
			r, _ := q.Put(loanOf(unsafe.Pointer(new(lent))), nil)
			q.Wait(Waiter{What: []*Released{r}, Cost: 100, Keeps: c.keeps, Back: func() { left++ }})
			if bad := q.Leave(false, c.objects, c.bytes); bad != nil {
				t.Fatal(bad)
			}
		}
		if n, _ := q.Waiting(); n != c.want || left != 200-n {
			t.Errorf("%+v: %d wait, %d left", c, n, left)
		}
		q.Leave(true, 0, 0)
		if n, bytes := q.Waiting(); n != 0 || bytes != 0 || left != 200 || q.held.Load() != 0 {
			t.Errorf("%+v: %d wait, %d bytes, %d left", c, n, bytes, left)
		}
	}
}
