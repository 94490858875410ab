//go:build !haven_check && !asan && !msan

package guard_test

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/guard"
	"github.com/haven-mem/haven/internal/testkit"
)

// set turns the guard on for a test, with all slots free.
func set(t *testing.T, rate, slots int) {
	t.Helper()
	if err := guard.Set(1, 1); err != nil { // lets go of what was released
		t.Fatal(err)
	}
	if err := guard.Set(rate, slots); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { guard.Set(0, 0) })
}

type flat struct{ a, b, c int64 }

type linked struct {
	next *linked
	n    int
}

// place returns a guarded object, or nil.
func place[T any]() *T {
	typ := reflect.TypeFor[T]()
	return (*T)(guard.Place(guard.Object{
		Type: typ, Pointers: typ == reflect.TypeFor[linked](), Title: "a test", Owner: 7,
		New: func() unsafe.Pointer { return unsafe.Pointer(new(T)) },
	}))
}

func release[T any](t *testing.T, p *T) {
	t.Helper()
	_, bad := guard.Release(unsafe.Pointer(p), 7, func(q unsafe.Pointer) { *(*T)(q) = *new(T) })
	if bad != nil {
		t.Fatal(bad)
	}
}

// faults reports the explanation of the fault that f takes, or nil.
func faults(f func()) (r *check.Report) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { r = check.Explain(recover()) }()
	f()
	return nil
}

// Rates and slots out of range are errors, and change nothing.
func TestSet(t *testing.T) {
	set(t, 5, 9)
	for _, c := range [][2]int{{-1, 1}, {1, 0}, {1, -1}, {1, 256}, {0, 256}, {0, -1}, {math.MinInt, 1}} {
		err := guard.Set(c[0], c[1])
		if err == nil || !strings.Contains(err.Error(), "1 to 255") || !strings.Contains(err.Error(), "4294967295") {
			t.Errorf("%v: %v", c, err)
		}
		if !guard.On() || guard.Each() {
			t.Errorf("%v: changed the rate", c)
		}
	}
	for _, c := range [][2]int{{1, 1}, {1, 255}, {math.MaxInt32, 1}, {0, 0}, {0, 255}} {
		if err := guard.Set(c[0], c[1]); err != nil || guard.On() != (c[0] > 0) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// The environment turns the guard on. What it cannot read is one line on standard
// error, and the guard is off.
func TestVariable(t *testing.T) {
	if testkit.InChild(t) {
		fmt.Println("rate", guard.Now())
		return
	}
	for value, want := range map[string]int{"0": 0, "1": 1, "64": 64, "16384,255": 16384, "1,1": 1, "0,0": 0,
		"": -1, "x": -1, "-1": -1, "1,": -1, "1,0": -1, "1,256": -1, "1,2,3": -1, "4294967296": -1, "1e3": -1} {
		out, err := testkit.Child(t, guard.Variable+"="+value)
		if err != nil {
			t.Fatal(err, out)
		}
		line := fmt.Sprintf("haven: HAVEN_GUARD=%q: want 0 for none, or one release in how many is guarded, up to 4294967295, and behind a comma the number of slots, 1 to 255; the guard is off\n", value)
		if strings.Contains(out, line) != (want < 0) || strings.Count(out, "haven: ") != strings.Count(out, line) {
			t.Errorf("%q: %s", value, out)
		}
		if !strings.Contains(out, fmt.Sprintf("rate %d\n", max(want, 0))) {
			t.Errorf("%q: want %d: %s", value, want, out)
		}
	}
	if out, err := testkit.Child(t); os.Getenv(guard.Variable) == "" && (err != nil || !strings.Contains(out, "rate 0\n")) {
		t.Errorf("without the variable: %v: %s", err, out)
	}
}

// Slots that are in use are never taken away, those that were released are taken in the
// order of the releases.
func TestSlots(t *testing.T) {
	const n = 5
	set(t, 1, n)
	var reports []string
	guard.Tell(func(r *check.Report) { reports = append(reports, r.Detail) })
	defer guard.Tell(nil)
	var list [n]*linked
	for i := range list {
		if list[i] = place[linked](); list[i] == nil || *list[i] != (linked{}) {
			t.Fatalf("object %d: %v", i, list[i])
		}
	}
	if p := place[linked](); p != nil {
		t.Fatal("one more than there are slots")
	}
	order := []int{3, 0, 4, 1, 2}
	for _, i := range order {
		list[i].n = -1
		release(t, list[i])
		list[i].n = 100 + i // a mistake, by which it is known when it leaves
	}
	for range order {
		release(t, place[linked]())
	}
	if len(reports) != n {
		t.Fatalf("%d reports, want %d: %v", len(reports), n, reports)
	}
	for k, i := range order {
		if want := fmt.Sprintf(".n of guard_test.linked at %p", list[i]); !strings.HasPrefix(reports[k], want) {
			t.Errorf("%d: %q, want %q", k, reports[k], want)
		}
	}
	if used, released := guard.InUse(); used != n || released != n {
		t.Errorf("%d slots in use, %d of what was released", used, released)
	}
	// With fewer slots the oldest go.
	if guard.Set(1, 2); true {
		if used, released := guard.InUse(); used != 2 || released != 2 {
			t.Errorf("%d slots in use, %d of what was released, want 2", used, released)
		}
	}
}

// What is in use stays as it is while the guard is turned off and on, and can be
// released.
func TestOff(t *testing.T) {
	set(t, 1, 3)
	p, q := place[flat](), place[linked]()
	p.b, q.n = 7, 8
	guard.Set(0, 0)
	if guard.On() || p.b != 7 || q.n != 8 {
		t.Error("not as it was")
	}
	release(t, p)
	release(t, q)
	if guard.CanOpen && faults(func() { p.b++ }) == nil {
		t.Error("no fault")
	}
	if r := faults(func() { q.next.n++ }); r == nil || r.Allocated == "" || r.Released == "" {
		t.Errorf("no fault, or no stacks: %v", r)
	}
	if used, released := guard.InUse(); used != released {
		t.Errorf("%d slots in use, %d by what was released", used, released)
	}
}

// Pages serve values of one type only: a pointer that was kept never sees another.
func TestPagesOfOneType(t *testing.T) {
	if !guard.CanOpen {
		t.Skip("no pages")
	}
	set(t, 1, 4)
	type other struct{ x, y, z uint64 }
	seen := map[uintptr]string{}
	note := func(p unsafe.Pointer, typ string) {
		page := uintptr(p) / uintptr(os.Getpagesize())
		if was := seen[page]; was != "" && was != typ {
			t.Fatalf("a %s where a %s was", typ, was)
		}
		seen[page] = typ
	}
	for range 50 {
		p, q := place[flat](), place[other]()
		if *p != (flat{}) || *q != (other{}) {
			t.Fatal("not zero")
		}
		*p, *q = flat{1, 2, 3}, other{4, 5, 6}
		note(unsafe.Pointer(p), "flat")
		note(unsafe.Pointer(q), "other")
		release(t, p)
		if i := place[flat](); i != nil { // while q's pages are in use, and p's are not
			note(unsafe.Pointer(i), "flat")
			release(t, i)
		}
		release(t, q)
	}
	if objects, filtered := guard.Known(); objects != filtered || objects > 4 {
		t.Errorf("%d objects are known in 4 slots, and %d in the filter", objects, filtered)
	}
	if len(seen) > 3*4 {
		t.Errorf("%d pages for 4 slots", len(seen))
	}
}

// Objects of all sizes lie at either end of their pages, and an access one byte beside
// the pages is a fault that is explained.
func TestEdges(t *testing.T) {
	if !guard.CanOpen {
		t.Skip("no pages")
	}
	set(t, 1, 20)
	edges[[1]byte](t)
	edges[[3]uint16](t)
	edges[[100]int64](t)
	edges[[4096]byte](t)
	edges[[4097]byte](t)
	edges[[guard.MaxBytes]byte](t)
}

func edges[T any](t *testing.T) {
	size := unsafe.Sizeof(*new(T))
	page := uintptr(os.Getpagesize())
	var left, right bool
	for range 200 {
		p := place[T]()
		at := unsafe.Pointer(p)
		if uintptr(at)%unsafe.Alignof(*p) != 0 {
			t.Fatalf("%T at %p", *p, p)
		}
		if uintptr(at)%page == 0 {
			left = true
			r := faults(func() { *(*byte)(unsafe.Add(at, -1))++ })
			if r == nil || r.What != "underrun" || !strings.HasSuffix(r.Detail, " is byte 1 before it") || !strings.Contains(r.Memory, fmt.Sprintf("%T", *p)) {
				t.Fatalf("%T: %v", *p, r)
			}
		}
		if (uintptr(at)+size)%page == 0 {
			right = true
			r := faults(func() { *(*byte)(unsafe.Add(at, size+2))++ })
			if r == nil || r.What != "overrun" || !strings.HasSuffix(r.Detail, " is byte 3 behind its end") || !strings.Contains(r.Memory, fmt.Sprintf("%T", *p)) {
				t.Fatalf("%T: %v", *p, r)
			}
		}
		release(t, p)
		if r := faults(func() { *(*byte)(at)++ }); r == nil || r.What != "use after release" {
			t.Fatalf("%T: %v", *p, r)
		}
	}
	if !left || !right {
		t.Errorf("%T: at the left end %v, at the right end %v", *new(T), left, right)
	}
}

// A write beside an object that does not leave its pages is found at the release.
func TestBeside(t *testing.T) {
	if !guard.CanOpen {
		t.Skip("no pages")
	}
	set(t, 1, 8)
	var found []*check.Report
	guard.Tell(func(r *check.Report) { found = append(found, r) })
	defer guard.Tell(nil)
	for i := range 40 {
		p := place[flat]()
		at := unsafe.Pointer(p)
		want := "underrun"
		if uintptr(at)%uintptr(os.Getpagesize()) == 0 {
			want = "overrun"
			*(*byte)(unsafe.Add(at, unsafe.Sizeof(*p)))++
		} else {
			*(*byte)(unsafe.Add(at, -1))++
		}
		release(t, p)
		if len(found) != i+1 || found[i].What != want || !strings.Contains(found[i].Detail, "byte 1 be") {
			t.Fatalf("%d reports, want %s: %v", len(found), want, found)
		}
	}
}

// Only so much is sampled between two ticks, and of a few releases about one in the
// rate.
func TestDraw(t *testing.T) {
	set(t, 100, 8)
	guard.Step()
	sum := 0
	for range 100 {
		n := guard.Draw(math.MaxUint64)
		if sum += n; n > guard.PerOwner {
			t.Fatalf("%d at a time", n)
		}
	}
	if sum != guard.PerTick {
		// The clock may have ticked meanwhile.
		if sum%guard.PerTick != 0 || sum > 10*guard.PerTick {
			t.Errorf("%d between two ticks, want %d", sum, guard.PerTick)
		}
	}
	for n, want := range map[uint64][2]int{0: {0, 0}, 1: {50, 160}, 10: {820, 1180}, 100: {10000, 10000}, 250: {24500, 25500}} {
		got := 0
		for range 10000 {
			guard.Step()
			got += guard.Draw(n)
		}
		if got < want[0] || got > want[1] {
			t.Errorf("of %d releases 1 in 100: %d in 10000 draws, want %v", n, got, want)
		}
	}
	guard.Set(0, 0)
	if guard.Draw(math.MaxUint64) != 0 {
		t.Error("drawn of none")
	}
}

// Goroutines place, use and release at the same time, while the collector runs.
func TestConcurrent(t *testing.T) {
	set(t, 1, 16)
	var wg sync.WaitGroup
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				if bad := check.Verify(); len(bad) > 0 {
					t.Error(bad[0])
					return
				}
			}
		}
	}()
	n := 3000
	if testing.Short() {
		n = 500
	}
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range n {
				p, q := place[flat](), place[linked]()
				if p != nil {
					p.a, p.c = int64(g), int64(i)
				}
				if q != nil {
					q.next, q.n = &linked{n: i}, g
				}
				runtime.Gosched()
				if p != nil && (p.a != int64(g) || p.b != 0 || p.c != int64(i)) || q != nil && (q.next.n != i || q.n != g) {
					t.Errorf("%v and %v are not goroutine %d's", p, q, g)
				}
				if p != nil {
					release(t, p)
				}
				if q != nil {
					release(t, q)
				}
			}
		}()
	}
	wg.Wait()
	close(stop)
	if bad := check.Verify(); len(bad) > 0 {
		t.Error(bad[0])
	}
}
