package shape_test

import (
	"math/rand"
	"reflect"
	"strconv"
	"testing"

	"github.com/haven-mem/haven/shape"
)

// A typeReader makes types from bytes: the same bytes give the same type.
type typeReader struct {
	data   []byte
	fields int // left to be made, over all structs
}

func (r *typeReader) next() int {
	if len(r.data) == 0 {
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return int(b)
}

// leaves has no interfaces; see TestStructOfInterface.
var leaves = []reflect.Type{
	reflect.TypeFor[int](),
	reflect.TypeFor[*int](),
	reflect.TypeFor[string](),
	reflect.TypeFor[[]byte](),
	reflect.TypeFor[byte](),
	reflect.TypeFor[uint16](),
	reflect.TypeFor[int32](),
	reflect.TypeFor[int64](),
	reflect.TypeFor[complex64](),
	reflect.TypeFor[complex128](),
	reflect.TypeFor[map[int]int](),
	reflect.TypeFor[chan int](),
	reflect.TypeFor[func()](),
	reflect.TypeFor[struct{}](),
	reflect.TypeFor[outer](),
	reflect.TypeFor[aligned64](),
	reflect.TypeFor[endsEmpty](),
}

// lengths of arrays; the long ones bring masks built on demand.
var lengths = []int{1, 2, 3, 0, 5, 8, 17, 33, 64, 100, 700, 9000}

const maxTypeSize = 4 << 20

func (r *typeReader) read(depth int) reflect.Type {
	b := r.next()
	if depth == 0 || r.fields <= 0 {
		return leaves[b%len(leaves)]
	}
	switch b % 4 {
	case 0:
		return leaves[b/4%len(leaves)]
	case 1:
		elem := r.read(depth - 1)
		length := lengths[b/4%len(lengths)]
		if elem.Size()*uintptr(length) > maxTypeSize {
			length = 2
		}
		return reflect.ArrayOf(length, elem)
	}
	var fields []reflect.StructField
	size := uintptr(0)
	for i := range b / 4 % 9 {
		r.fields--
		f := reflect.StructField{Name: "F" + strconv.Itoa(i), Type: r.read(depth - 1)}
		if size += f.Type.Size(); size > maxTypeSize {
			break
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

func readType(data []byte) reflect.Type {
	r := typeReader{data: data, fields: 40}
	return r.read(4)
}

// TestRandomTypes compares types made at run time with the masks that package
// reflect gave them.
func TestRandomTypes(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	data := make([]byte, 120)
	seen := make(map[reflect.Type]bool)
	for range 400 {
		rng.Read(data)
		typ := readType(data)
		compare(t, typ)
		seen[typ] = true
	}
	if len(seen) < 200 {
		t.Errorf("only %d different types: the generator is broken", len(seen))
	}
}

// Package reflect marks both words of an interface in a struct that it makes,
// where the compiler marks the second one only. The type word never leads into
// the collected heap, so it is all the same to the collector, and shapes are
// the compiler's. When this test fails, reflect has come round to the
// compiler's way, and interfaces can join the leaves above.
func TestStructOfInterface(t *testing.T) {
	made := reflect.StructOf([]reflect.StructField{
		{Name: "MadeAtRunTime", Type: reflect.TypeFor[uintptr]()},
		{Name: "I", Type: reflect.TypeFor[any]()},
	})
	if _, mask := gcMask(t, made); !reflect.DeepEqual(mask, []bool{false, true, true}) {
		t.Errorf("mask %v: reflect has changed", mask)
	}
	if got := shape.OfType(made).Bits(); got != "001" {
		t.Errorf("shape %v, want 001", got)
	}
	compare(t, reflect.ArrayOf(21, reflect.TypeFor[any]()))
	compare(t, reflect.ArrayOf(3, reflect.TypeFor[request]()))
}

// FuzzTypes is TestRandomTypes driven by the fuzzing engine. Types made at run
// time are never freed, so a long run grows.
func FuzzTypes(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{14, 0, 5, 2, 6})
	f.Add([]byte("\x12\x05\x02\x16\x41\x09\x2d\x03\x11"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 200 {
			t.Skip()
		}
		compare(t, readType(data))
	})
}
