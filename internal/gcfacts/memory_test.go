package gcfacts_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/addr"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/testkit"
)

const word = unsafe.Sizeof(uintptr(0))

// footprint returns the bytes of the heap that an allocation takes.
func footprint(alloc func()) uintptr {
	const n = 64
	return testkit.Taken(func() {
		for range n {
			alloc()
		}
	}) / n
}

// TestMallocHeader is fact 2: which sizes of objects with pointers carry a
// header, and what that makes of round sizes.
func TestMallocHeader(t *testing.T) {
	testkit.NeedsPacking(t)
	withPointers := func(bytes uintptr) uintptr {
		return footprint(func() { sink = &make([]*byte, bytes/word)[0] })
	}
	withoutPointers := func(bytes uintptr) uintptr {
		return footprint(func() { sink = &make([]byte, bytes)[0] })
	}
	// Objects of up to as many words as a word has bits have their pointer bits
	// beside them; larger ones have a header.
	lastWithout := word * word * 8
	for _, c := range []struct{ size, want uintptr }{
		{lastWithout, lastWithout},
		{1024 - 8, 1024}, {1024, 1152},
		{4096 - 8, 4096}, {4096, 4864},
		{8192 - 8, 8192}, {8192, 9472},
		{32<<10 - 8, 32 << 10}, {32 << 10, 32 << 10}, {40 << 10, 40 << 10},
	} {
		if got := withPointers(c.size); got != c.want {
			t.Errorf("an object of %d bytes with pointers takes %d, want %d", c.size, got, c.want)
		}
	}
	for _, size := range []uintptr{512, 1024, 4096, 8192, 32 << 10} {
		if got := withoutPointers(size); got != size {
			t.Errorf("an object of %d bytes without pointers takes %d", size, got)
		}
	}

	// What the allocators ask for leaves nothing over.
	for want := uintptr(1024); want <= 256<<10; want *= 2 {
		usable := chunk.Usable(want)
		if got := withPointers(usable); got > usable+8 {
			t.Errorf("chunk.Usable(%d) = %d, which takes %d bytes", want, usable, got)
		}
	}
}

// TestStructOf is fact 8: asked again for the same fields, reflect returns the
// type it has, also after collections in which nothing referred to it.
func TestStructOf(t *testing.T) {
	make := func(n int) reflect.Type {
		return reflect.StructOf([]reflect.StructField{
			{Name: "Owner", Type: reflect.TypeFor[*object]()},
			{Name: "Data", Type: reflect.ArrayOf(n, reflect.TypeFor[byte]())},
		})
	}
	wordOf := func(n int) uintptr { return addr.TypeWord(reflect.Zero(reflect.PointerTo(make(n))).Interface()) }
	was := wordOf(12345)
	collect()
	if now := wordOf(12345); now != was {
		t.Errorf("the type was made anew: %#x, then %#x", was, now)
	}
	if wordOf(12346) == was {
		t.Error("types of different length are one type")
	}
	if got := ptrBytes(t, make(12345)); got != word {
		t.Errorf("%d bytes of a struct made by reflection are scanned, want %d", got, word)
	}
}

// TestSyncPoolForgets is fact 10: what lies in a sync.Pool over two collections
// is gone, warm or not.
func TestSyncPoolForgets(t *testing.T) {
	var p sync.Pool
	for range 100 {
		p.Put(new(object))
	}
	runtime.GC()
	runtime.GC()
	if x := p.Get(); x != nil {
		t.Error("a sync.Pool kept an object over two collections")
	}
}

type generic[T any] struct{ v T }

// TestTypeWords is fact 12: the first word of an empty interface tells types
// apart, is the same for one type whatever the value, and does not depend on
// where in the program it was made.
func TestTypeWords(t *testing.T) {
	type local struct{ _ int }
	seen := map[uintptr]string{}
	for _, v := range []any{
		0, int8(0), uint(0), "", []int{}, []uint{}, new(int), (*uint)(nil), local{}, &local{},
		generic[int]{}, generic[local]{}, (*generic[int])(nil), struct{}{}, [0]int{}, [1]int{},
		map[int]int{}, make(chan int), func() {}, error(nil) == nil, (*any)(nil), (*error)(nil),
	} {
		w := addr.TypeWord(v)
		if other, ok := seen[w]; ok {
			t.Errorf("%T and %s have the same type word", v, other)
		}
		seen[w] = fmt.Sprintf("%T", v)
	}
	if addr.TypeWord((*generic[string])(nil)) != addr.TypeWord(&generic[string]{"x"}) {
		t.Error("the type word depends on the value")
	}
	if addr.TypeWord((*object)(nil)) != addr.TypeWord(reflect.New(reflect.TypeFor[object]()).Interface()) {
		t.Error("a value made by reflection has another type word")
	}
	if addr.TypeWord(nil) != 0 {
		t.Error("the type word of nil is not 0")
	}
	if unsafe.Sizeof(any(nil)) != 2*word {
		t.Errorf("an empty interface has %d bytes, want two words", unsafe.Sizeof(any(nil)))
	}
}

// TestHeapStaysStacksMove is fact 13: nothing on the heap has another address
// after collections, while what is on a stack may.
func TestHeapStaysStacksMove(t *testing.T) {
	heap := new([64]int)
	sink = heap
	before := uintptr(unsafe.Pointer(heap))
	moved := make(chan bool)
	go func() { // a new goroutine has a small stack, which has to move to grow
		var local [4]int
		at := uintptr(unsafe.Pointer(&local))
		deep(10_000)
		moved <- at != uintptr(unsafe.Pointer(&local))
	}()
	if !<-moved {
		// With -d=checkptr=2 the conversion puts the variable on the heap.
		t.Log("the variable did not move with its stack")
	}
	collect()
	if uintptr(unsafe.Pointer(heap)) != before {
		t.Error("a heap object moved")
	}
}

//go:noinline
func deep(n int) int {
	var pad [16]int
	if n == 0 {
		return pad[n]
	}
	pad[n%16] = n
	return deep(n-1) + pad[n%16]
}

// TestWithin checks the comparison of addresses that fact 13 permits.
func TestWithin(t *testing.T) {
	c := make([]int, 100)
	other := make([]int, 100)
	sink = [][]int{c, other}
	for _, v := range []struct {
		name string
		s    []int
		want bool
	}{
		{"all", c, true}, {"first", c[:1:1], true}, {"last", c[99:], true}, {"empty with room", c[5:5], true},
		{"empty at the end", c[100:], false}, {"nil", nil, false}, {"another", other, false}, {"on the stack", make([]int, 3), false},
	} {
		if got := addr.Within(v.s, c); got != v.want {
			t.Errorf("%s: within %v, want %v", v.name, got, v.want)
		}
	}
	if addr.Within(c[10:40], c[10:20]) {
		t.Error("a slice that reaches over the end of a chunk is within it")
	}
	if addr.Within(make([]struct{}, 3), make([]struct{}, 3)) {
		t.Error("a slice of a type without size lies somewhere")
	}
}

// TestStringSharesBytes is fact 14: the string and the bytes are one memory, and
// the string alone keeps all of it, with what it is a part of.
func TestStringSharesBytes(t *testing.T) {
	type holder struct {
		owner *object
		text  [64]byte
	}
	var w weak.Pointer[object]
	s := func() string {
		h := new(holder)
		h.owner, w = newObject()
		b := append(h.text[:0], "before"...)
		s := addr.String(b)
		if s != "before" {
			t.Errorf("got %q", s)
		}
		copy(b, "after!")
		return s
	}()
	if s != "after!" {
		t.Errorf("after a change of the bytes the string reads %q", s)
	}
	collect()
	alive(t, w, true, "the object beside a string's bytes")
	if !strings.HasPrefix(s, "after") {
		t.Errorf("after a collection the string reads %q", s)
	}
	runtime.KeepAlive(s)
	collect()
	alive(t, w, false, "the object beside the bytes of a string that is gone")
}

// TestAtomicIsAligned is fact 17: a struct that begins with no elements of
// atomic.Int64 is a multiple of 8 bytes, aligned to 8, on every machine, and an
// allocation of such a size begins at a multiple of 8.
func TestAtomicIsAligned(t *testing.T) {
	type cell struct {
		_ [0]atomic.Int64
		b byte
	}
	if s, a := unsafe.Sizeof(cell{}), unsafe.Alignof(cell{}); s != 8 || a != 8 {
		t.Errorf("size %d, alignment %d, want 8 and 8", s, a)
	}
	for n := uintptr(8); n <= 64<<10; n += n/16&^7 + 8 {
		b := make([]byte, n)
		sink = b
		if p := uintptr(unsafe.Pointer(&b[0])); p%8 != 0 {
			t.Errorf("an object of %d bytes begins at %#x", n, p)
		}
		ptrs := make([]*byte, n/word)
		sink = ptrs
		if p := uintptr(unsafe.Pointer(&ptrs[0])); p%8 != 0 {
			t.Errorf("an object of %d bytes with pointers begins at %#x", n, p)
		}
	}
}
