package misuse_test

import (
	"unsafe"
)

// A memory is one kind of memory, ready to hand out objects of one type.
type memory struct {
	owner any // what hands it out, which lives as long as the trial

	// alloc hands out an object. It gives its line to the trial, as release does; both
	// may be nil.
	alloc   func(t *trial) object
	release func(t *trial, o object)

	// trim gives back what is free, if the kind has that.
	trim func(t *trial)

	// single is set where each object is released by itself: it can be released twice,
	// or to another memory.
	single bool
	// untyped memory is not seen by the collector: pointers may lead to itself only.
	untyped bool
	// heap is set where each object is one of Go's heap: nothing of ours is beside it.
	heap bool
	// shared is set where several goroutines may use it.
	shared bool

	// paged is set where the guard has objects on pages of their own.
	paged bool

	// special are mistakes that only this kind knows, by scenario.
	special map[string]func(t *trial)
}

// An object is what memory hands out.
type object struct {
	p    unsafe.Pointer
	size uintptr
	key  any // what it is released by, if not by p
}

// at returns the byte at an offset of o, which may be one outside: not by unsafe.Add,
// of which checkptr finds those that chance to lead to another object of Go's heap.
func (o object) at(off int) *byte {
	p := uintptr(o.p) + uintptr(off)
	return *(**byte)(unsafe.Pointer(&p))
}

// head returns the start of o, which must be of a type that links.
func (o object) head() *head { return (*head)(o.p) }

// A head is the start of the types with pointers.
type head struct {
	next *head
	text string
	list []int64
	any  any
	m    map[string]int
	f    func() int
	n    [2]int64
}

// A typ is a type of objects.
type typ struct {
	name  string
	links bool // it begins with a head
	some  bool // it is one of those that are always tried
	kinds func() []kind
	size  func() uintptr
}

type (
	linked112 = struct {
		head
		rest [16]byte
	}
	linked512 = struct {
		head
		rest [416]byte
	}
	linked4096 = struct {
		head
		rest [4000]byte
	}
)

var types = []typ{
	{"1 byte", false, true, kindsOf[[1]byte], sizeOf[[1]byte]},
	{"8 bytes", false, false, kindsOf[[8]byte], sizeOf[[8]byte]},
	{"24 bytes", false, true, kindsOf[[24]byte], sizeOf[[24]byte]},
	{"100 bytes", false, false, kindsOf[[100]byte], sizeOf[[100]byte]},
	{"512 bytes", false, false, kindsOf[[512]byte], sizeOf[[512]byte]},
	{"4096 bytes", false, true, kindsOf[[4096]byte], sizeOf[[4096]byte]},
	{"40000 bytes", false, false, kindsOf[[40000]byte], sizeOf[[40000]byte]},
	{"112 bytes with pointers", true, true, kindsOf[linked112], sizeOf[linked112]},
	{"512 bytes with pointers", true, false, kindsOf[linked512], sizeOf[linked512]},
	{"4096 bytes with pointers", true, true, kindsOf[linked4096], sizeOf[linked4096]},
}

// A kind is a kind of memory, and the way it is released, for one type.
type kind struct {
	name string
	make func() *memory // nil: not for this type
}

// sizeOf returns the size of a T.
func sizeOf[T any]() uintptr { return unsafe.Sizeof(*new(T)) }

func objectOf[T any](p *T, key any) object { return object{unsafe.Pointer(p), sizeOf[T](), key} }

// sliceObject is an object of all elements of s.
func sliceObject[T any](s []T, n int) object {
	return object{unsafe.Pointer(unsafe.SliceData(s)), uintptr(n) * sizeOf[T](), nil}
}
