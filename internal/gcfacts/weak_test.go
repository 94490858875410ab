package gcfacts_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/testkit"
)

// A link is a value with pointers in a chunk.
type link struct {
	next, prev *link
	n          [3]int
}

// droppedChunks makes chunks of links that refer to each other within the chunk,
// and returns weak pointers to them, as memory of bytes, and a pointer into the
// middle of one.
//
//go:noinline
func droppedChunks(n, length int) (weaks []weak.Pointer[byte], inside *int) {
	for i := range n {
		chunk := make([]link, length)
		for k := range chunk {
			chunk[k].next, chunk[k].prev = &chunk[(k+1)%length], &chunk[(k+length-1)%length]
		}
		weaks = append(weaks, weak.Make((*byte)(unsafe.Pointer(unsafe.SliceData(chunk)))))
		if i == n/2 {
			inside = &chunk[length/2].n[1]
		}
	}
	return weaks, inside
}

// TestWeakPointerToChunk is fact 21: a weak pointer to the beginning of an object,
// as whatever type, is good for as long as anything points into the object, and
// no longer than the collection that finds it dead, cycles in it or not.
func TestWeakPointerToChunk(t *testing.T) {
	count := func(list []weak.Pointer[byte]) (n int) {
		for _, w := range list {
			if w.Value() != nil {
				n++
			}
		}
		return n
	}
	for _, length := range []int{1, 12, 100, 10_000} {
		list, inside := droppedChunks(10, length)
		runtime.GC()
		if n := count(list); n != 1 || list[5].Value() == nil {
			t.Errorf("%d links: %d chunks live after a collection, and one is pointed into", length, n)
		}
		runtime.KeepAlive(inside)
		collect()
		if n := count(list); n != 0 {
			t.Errorf("%d links: %d chunks live, and nothing points to them", length, n)
		}
	}
}

// noCleanup is the zero Cleanup.
var noCleanup runtime.Cleanup

var globalObject object

// TestCleanupOfGlobal is fact 22: the cleanup of a global variable is the zero
// Cleanup, and that of an object of the heap is not.
func TestCleanupOfGlobal(t *testing.T) {
	if c := runtime.AddCleanup(&globalObject, func(int) {}, 0); c != noCleanup {
		t.Errorf("the cleanup of a global variable is %+v", c)
	}
	p, _ := newObject()
	c := runtime.AddCleanup(p, func(int) {}, 0)
	if c == noCleanup {
		t.Error("the cleanup of an object is none")
	}
	c.Stop()
}

// TestForeignPointers is fact 22: memory of the system's gets no cleanup, for which there is a
// panic that can be recovered; a weak pointer to it ends the program.
func TestForeignPointers(t *testing.T) {
	p := &testkit.Mapped(t, 1<<12)[100]
	if testkit.InChild(t) {
		defer func() { recover() }()
		weak.Make(p)
		return
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic for a cleanup of memory that is not Go's")
			}
		}()
		runtime.AddCleanup(p, func(int) {}, 0)
	}()
	out, err := testkit.Child(t)
	if err == nil || !strings.Contains(out, "fatal error") {
		t.Errorf("a weak pointer to memory that is not Go's: %v\n%.1500s", err, out)
	}
}

// TestCleanupWithoutSize is fact 22 as well: an object without size is none of the heap.
func TestCleanupWithoutSize(t *testing.T) {
	if c := runtime.AddCleanup(new(struct{}), func(int) {}, 0); c != noCleanup {
		t.Errorf("the cleanup of an object without size is %+v", c)
	}
}
