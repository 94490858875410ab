package bump_test

import (
	"fmt"
	"unsafe"

	"github.com/haven-mem/haven/bump"
)

type city struct {
	name string
	next *city
}

func Example() {
	var a bump.Arena
	var list *city
	for _, name := range []string{"Oslo", "Riga", "Bern"} {
		c := bump.New[city](&a)
		c.name = bump.String(&a, name)
		c.next = list
		list = c
	}
	for c := list; c != nil; c = c.next {
		fmt.Println(c.name)
	}
	// Output:
	// Bern
	// Riga
	// Oslo
}

func ExampleNew() {
	var a bump.Arena
	n := bump.New[int](&a)
	*n += 7
	fmt.Println(*n)
	// Output: 7
}

func ExampleNewFrom() {
	var a bump.Arena
	p := bump.NewFrom(&a, [2]float64{3, 4})
	fmt.Println(*p)
	// Output: [3 4]
}

func ExampleMakeSlice() {
	var a bump.Arena
	s := bump.MakeSlice[int](&a, 2, 8)
	fmt.Println(s, len(s), cap(s))
	// Output: [0 0] 2 8
}

func ExampleAppend() {
	var a bump.Arena
	s := bump.Append(&a, nil, 1, 2, 3)
	fmt.Println(bump.Append(&a, s, s[1:]...))
	// Output: [1 2 3 2 3]
}

func ExamplePush() {
	var a bump.Arena
	var s []string
	for _, w := range []string{"to", "be"} {
		s = bump.Push(&a, s, bump.String(&a, w))
	}
	fmt.Println(s)
	// Output: [to be]
}

func ExampleString() {
	var a bump.Arena
	line := []byte("key=value")
	key := bump.String(&a, line[:3])
	clear(line)
	fmt.Println(key)
	// Output: key
}

func ExampleArena_Alloc() {
	var a bump.Arena
	p := a.Alloc(100, 64)
	fmt.Println(uintptr(p)%64, a.Stats().InUse >= 100)
	// Output: 0 true
}

func ExampleArena_Realloc() {
	var a bump.Arena
	p := a.Alloc(4, 1)
	copy(unsafe.Slice((*byte)(p), 4), "abcd")
	q := a.Realloc(p, 4, 8, 1)
	fmt.Printf("%q %v\n", unsafe.Slice((*byte)(q), 8), q == p)
	// Output: "abcd\x00\x00\x00\x00" true
}

func ExampleArena_Reset() {
	var a bump.Arena
	for range 3 {
		for i := range 1000 {
			*bump.New[int](&a) = i
		}
		a.Reset()
	}
	fmt.Println(a.Stats().InUse, a.Stats().Resets)
	// Output: 0 3
}

func ExampleArena_Free() {
	var a bump.Arena
	n := bump.NewFrom(&a, 42)
	a.Free()
	fmt.Println(*n) // stays valid for as long as something refers to it
	// Output: 42
}

func ExampleArena_Owns() {
	var a bump.Arena
	mine, other := bump.New[int](&a), new(int)
	fmt.Println(a.Owns(unsafe.Pointer(mine)), a.Owns(unsafe.Pointer(other)))
	// Output: true false
}

func ExampleArena_Stats() {
	var a bump.Arena
	bump.New[[3]int64](&a)
	s := a.Stats()
	fmt.Println(s.InUse >= 24, s.Chunks, s.Reserved == s.InUse+s.Idle+s.Gaps+s.Overhead)
	// Output: true 1 true
}

func ExampleArena_String() {
	var a *bump.Arena
	fmt.Println(a)
	a = new(bump.Arena)
	fmt.Println(a)
	// Output:
	// nil bump arena
	// bump arena: 0 bytes in use, 0 reserved, 0 idle, 0 in gaps, 0 overhead, high water 0, 0 chunks, 0 resets
}
