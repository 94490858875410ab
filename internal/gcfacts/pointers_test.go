package gcfacts_test

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"testing"
	"time"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/testkit"
)

// object is a heap object whose death a weak pointer shows. It has a pointer
// and a size that keep it out of the tiny allocator.
type object struct {
	_ *byte
	n [5]int
}

// collect runs the garbage collector as often as a chain of two needs.
func collect() {
	for range 3 {
		runtime.GC()
	}
}

//go:noinline
func newObject() (*object, weak.Pointer[object]) {
	p := new(object)
	return p, weak.Make(p)
}

// alive checks whether the object of w is as expected.
func alive(t *testing.T, w weak.Pointer[object], want bool, what string) {
	t.Helper()
	if got := w.Value() != nil; got != want {
		t.Errorf("%s: alive %v, want %v", what, got, want)
	}
}

// TestInteriorPointerKeepsAll is fact 1: one pointer into the middle of an
// allocation keeps all of it and everything that any part of it points to.
func TestInteriorPointerKeepsAll(t *testing.T) {
	const n = 1000
	var first, last weak.Pointer[object]
	middle := func() **object {
		s := make([]*object, n)
		s[0], first = newObject()
		s[n-1], last = newObject()
		return &s[n/2]
	}()
	collect()
	alive(t, first, true, "first element's object, pointer to the middle held")
	alive(t, last, true, "last element's object, pointer to the middle held")
	runtime.KeepAlive(middle)
	collect()
	alive(t, first, false, "first element's object, nothing held")
	alive(t, last, false, "last element's object, nothing held")
}

// ownerFirst and ownerLast are chunks with their one pointer at either end.
type (
	ownerFirst struct {
		owner *object
		data  [1 << 16]byte
	}
	ownerLast struct {
		data  [1 << 16]byte
		owner *object
	}
)

// ptrBytes returns how many bytes of a value of type t the garbage collector
// looks at: the second word of the runtime's description of t. The first is the
// size, which shows that this is where to look.
func ptrBytes(t *testing.T, typ reflect.Type) uintptr {
	t.Helper()
	desc := (*[2]unsafe.Pointer)(unsafe.Pointer(&typ))[1]
	words := (*[2]uintptr)(desc)
	if words[0] != typ.Size() {
		t.Fatalf("the first word of %v's description is %d, want its size %d", typ, words[0], typ.Size())
	}
	return words[1]
}

// TestScanEndsAtLastPointer is fact 3.
func TestScanEndsAtLastPointer(t *testing.T) {
	word := unsafe.Sizeof(uintptr(0))
	if got := ptrBytes(t, reflect.TypeFor[ownerFirst]()); got != word {
		t.Errorf("with its pointer first, %d bytes of a chunk are scanned, want %d", got, word)
	}
	if got, want := ptrBytes(t, reflect.TypeFor[ownerLast]()), unsafe.Sizeof(ownerLast{}); got != want {
		t.Errorf("with its pointer last, %d bytes of a chunk are scanned, want %d", got, want)
	}
	if got := ptrBytes(t, reflect.TypeFor[[1 << 16]byte]()); got != 0 {
		t.Errorf("%d bytes of a byte array are scanned, want none", got)
	}

	// And so a pointer behind the owner is not seen, while the owner is.
	c := new(ownerFirst)
	var owner, hidden weak.Pointer[object]
	func() {
		c.owner, owner = newObject()
		var p *object
		p, hidden = newObject()
		*(**object)(unsafe.Pointer(&c.data[64])) = p
	}()
	collect()
	alive(t, owner, true, "the owner")
	alive(t, hidden, false, "an object in the bytes behind the owner")
	runtime.KeepAlive(c)
}

// TestPastTheEndPointsElsewhere is fact 5. The address one past an object keeps
// not that object but the one behind it, or ends the program if there is none.
func TestPastTheEndPointsElsewhere(t *testing.T) {
	testkit.NeedsPacking(t)
	end := new(unsafe.Pointer)
	before, behind := neighbours(t, end)
	collect()
	alive(t, before, false, "the object to whose end a pointer is held")
	alive(t, behind, true, "the object that begins there")
	runtime.KeepAlive(end)

	wantBadPointer(t, "past-the-end")
}

// neighbours makes two objects side by side, of which *end keeps the end of the
// first.
//
//go:noinline
func neighbours(t *testing.T, end *unsafe.Pointer) (before, behind weak.Pointer[object]) {
	t.Helper()
	byAddress := map[uintptr]*object{}
	for range 1000 {
		p := new(object)
		at := uintptr(unsafe.Pointer(p))
		byAddress[at] = p
		if q := byAddress[at-unsafe.Sizeof(*p)]; q != nil {
			// As a number, so that no check of pointer arithmetic stops it.
			*(*uintptr)(unsafe.Pointer(end)) = at
			return weak.Make(q), weak.Make(p)
		}
	}
	t.Fatal("of 1000 objects no two are neighbours")
	return
}

// sink makes what is stored in it escape.
var sink any

// heapWords keeps words off the stack, whose stores need no write barrier.
var heapWords []uintptr

// unusedAddress returns the address one past an object of 40,000 bytes, which
// is neither the next object's nor a page's first.
func unusedAddress() uintptr {
	p := new([40_000]byte)
	sink = p
	return uintptr(unsafe.Pointer(p)) + unsafe.Sizeof(*p)
}

// keepPastTheEnd holds such an address in a pointer variable of the heap.
func keepPastTheEnd() {
	holder := new(*byte)
	*(*uintptr)(unsafe.Pointer(holder)) = unusedAddress()
	collect()
	runtime.KeepAlive(holder)
}

// TestBarrierReadsOldWord is fact 6: storing a pointer over a word of unscanned
// memory crashes while the collector marks if the word holds a number that
// looks like a bad pointer, and does not if it is zero.
func TestBarrierReadsOldWord(t *testing.T) {
	testkit.NeedsPacking(t)
	wantBadPointer(t, "garbage-word")
	if out, ok := runChild(t, "zero-word", "invalidptr=1"); !ok {
		t.Errorf("storing over zero words crashed:\n%.1500s", out)
	}
}

// storeOverWords stores pointers over words that hold old, in memory that is
// not scanned, until several collections have marked beside it.
func storeOverWords(old uintptr) {
	words := make([]uintptr, 1024)
	heapWords = words
	whileMarking(func(target *ring) {
		for i := range words { // by itself, lest the compiler drop it
			words[i] = old
		}
		for i := range words {
			*(**ring)(unsafe.Pointer(&words[i])) = target
		}
	})
}

// whileMarking calls f with a pointer again and again until several collections have
// marked beside it.
func whileMarking(f func(*ring)) {
	// A list is marked one by one, which takes long.
	var live *ring
	for range 500_000 {
		live = &ring{live}
	}
	done := make(chan bool)
	go func() {
		for range 5 {
			runtime.GC()
		}
		close(done)
	}()
	for deadline := time.Now().Add(time.Minute); ; {
		f(live)
		select {
		case <-done:
			runtime.KeepAlive(live)
			return
		default:
		}
		if time.Now().After(deadline) {
			fmt.Println("five collections took more than a minute")
			os.Exit(1)
		}
	}
}

// mixed has a word that is a pointer and one that is not.
type mixed struct {
	p *ring
	n uintptr
}

// TestClearGoesByMemory is fact 7: to clear objects as words records the pointers in
// them, and not what their other words hold.
func TestClearGoesByMemory(t *testing.T) {
	testkit.NeedsPacking(t)
	wantBadPointer(t, "clear-bad-pointers")
	if out, ok := runChild(t, "clear-numbers", "invalidptr=1"); !ok {
		t.Errorf("clearing numbers as words crashed:\n%.1500s", out)
	}
}

// clearAsWords clears objects as if each word of them were a pointer. Their numbers
// hold n, and their pointers p, or one of the heap if that is 0.
func clearAsWords(n, p uintptr) {
	objects := make([]mixed, 512)
	sink = objects
	whileMarking(func(target *ring) {
		for i := range objects {
			objects[i] = mixed{target, n}
			if p != 0 {
				*(*uintptr)(unsafe.Pointer(&objects[i].p)) = p
			}
		}
		clear(unsafe.Slice((*unsafe.Pointer)(unsafe.Pointer(&objects[0])), 2*len(objects)))
	})
}
