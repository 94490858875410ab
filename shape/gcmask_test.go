package shape_test

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"
)

// This file reads what the compiler, or package reflect for types made at run
// time, has told the collector about a type. It is the reference that all
// shapes are compared with.

// abiType has the fields of the runtime's internal/abi.Type. They are the same
// in go1.24, 1.25, 1.26 and 1.27; TestMaskReader fails where they are not.
type abiType struct {
	size     uintptr
	ptrBytes uintptr
	hash     uint32
	tflag    uint8
	align    uint8
	_        uint8 // field alignment
	_        uint8 // kind
	_        func(unsafe.Pointer, unsafe.Pointer) bool
	gcData   unsafe.Pointer
}

// maskOnDemand says that gcData is the address of a pointer to the mask, which
// the runtime builds when it first needs it: for types with pointers past the
// first 1 KiB (512 B on 32-bit machines) since go1.27, 128 KiB (64 KiB) before.
const maskOnDemand = 1 << 4

// maxBuilt bounds the memory allocated to have a mask built.
const maxBuilt = 64 << 20

const word = unsafe.Sizeof(uintptr(0))

// gcMask returns the collector's data on t: the length of the part with
// pointers, and one bool for each word of the type.
func gcMask(tb testing.TB, t reflect.Type) (ptrBytes uintptr, pointer []bool) {
	tb.Helper()
	// SAFETY: a reflect.Type is an interface whose value word is a pointer to
	// the runtime's type; abiType has its leading fields.
	at := (*abiType)((*[2]unsafe.Pointer)(unsafe.Pointer(&t))[1])
	if at.size != t.Size() || int(at.align) != t.Align() {
		tb.Fatalf("%v: runtime type has size %d, align %d; reflect says %d, %d: abiType does not match this Go version",
			t, at.size, at.align, t.Size(), t.Align())
	}
	pointer = make([]bool, (t.Size()+word-1)/word)
	if at.ptrBytes == 0 {
		return 0, pointer
	}
	mask := at.gcData
	if at.tflag&maskOnDemand != 0 {
		if t.Size() > maxBuilt {
			tb.Fatalf("%v: %d bytes are too many to make the runtime build its mask", t, t.Size())
		}
		// Marking a value of the type makes the runtime build the mask.
		keep := reflect.New(t)
		runtime.GC()
		runtime.KeepAlive(keep)
		mask = *(*unsafe.Pointer)(at.gcData)
		if mask == nil {
			tb.Fatalf("%v: the runtime has built no mask", t)
		}
	}
	for i := range at.ptrBytes / word {
		// SAFETY: the mask has at least ptrBytes/word bits.
		b := *(*byte)(unsafe.Add(mask, i/8))
		pointer[i] = b>>(i%8)&1 != 0
	}
	return at.ptrBytes, pointer
}

// TestMaskReader checks the reference itself, with facts that do not come from
// this module.
func TestMaskReader(t *testing.T) {
	type mixed struct {
		a int32
		s string
		b bool
		p *int
		_ [3]uintptr
	}
	want := []bool{false, true, false, false, true, false, false, false}
	ptrBytes, got := gcMask(t, reflect.TypeFor[mixed]())
	if ptrBytes != 5*word || !reflect.DeepEqual(got, want) {
		t.Fatalf("mask of %v: %d bytes %v, want %d bytes %v", reflect.TypeFor[mixed](), ptrBytes, got, 5*word, want)
	}
	if ptrBytes, _ := gcMask(t, reflect.TypeFor[[3]int]()); ptrBytes != 0 {
		t.Fatalf("mask of [3]int: %d bytes, want none", ptrBytes)
	}
	ptrBytes, got = gcMask(t, reflect.TypeFor[[40000]*int]())
	if ptrBytes != 40000*word || !got[0] || !got[39999] {
		t.Fatalf("mask of [40000]*int: %d bytes, first %v, last %v", ptrBytes, got[0], got[39999])
	}
}
