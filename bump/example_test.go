package bump_test

import (
	"errors"
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

func ExampleNewIn() {
	var a bump.Arena
	for _, al := range []bump.Allocator{nil, &a, bump.NewFixed(64)} {
		n := bump.NewIn[int64](al)
		*n = 5
		fmt.Println(*n)
	}
	// Output:
	// 5
	// 5
	// 5
}

func ExampleMakeSlice() {
	var a bump.Arena
	s := bump.MakeSlice[int](&a, 2, 8)
	fmt.Println(s, len(s), cap(s))
	// Output: [0 0] 2 8
}

func ExampleAppend() {
	var a bump.Arena
	var s []string
	for _, w := range []string{"to", "be"} {
		s = bump.Append(&a, s, bump.String(&a, w))
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

func ExampleArena_KeepAlive() {
	type entry struct{ attrs map[string]int }
	var a bump.Arena
	attrs := map[string]int{"size": 3}
	a.KeepAlive(attrs) // the garbage collector does not look into e
	e := bump.NewFrom(&a, entry{attrs})
	fmt.Println(e.attrs["size"])
	// Output: 3
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
	// bump arena: 0 bytes in use, 0 reserved, 0 idle, 0 in gaps, 0 overhead, 0 at the peak, 0 chunks, 0 resets
}

func ExampleSlice() {
	var a bump.Arena
	var primes bump.Slice[int]
	for i := 2; primes.Len() < 5; i++ {
		prime := true
		for _, p := range primes.Slice() {
			prime = prime && i%p != 0
		}
		if prime {
			primes.Append(&a, i)
		}
	}
	fmt.Println(primes.Slice(), *primes.At(4))
	primes.Truncate(2)
	fmt.Println(primes.Slice())
	// Output:
	// [2 3 5 7 11] 11
	// [2 3]
}

func ExampleSlice_Grow() {
	var a bump.Arena
	var s bump.Slice[byte]
	s.Grow(&a, 100)
	fmt.Println(s.Len(), s.Cap())
	// Output: 0 100
}

func ExampleFixed() {
	f := bump.NewFixed(16)
	bump.NewIn[[2]int64](f)
	_, err := f.TryAlloc(1, 1)
	fmt.Println(errors.Is(err, bump.ErrExhausted))
	f.Reset()
	fmt.Println(f)
	// Output:
	// true
	// fixed arena: 0 of 16 bytes in use
}

func ExampleFixed_TryAlloc() {
	f := bump.NewFixed(100)
	if _, err := f.TryAlloc(200, 8); err != nil {
		fmt.Println(err)
	}
	p, err := f.TryAlloc(50, 1)
	fmt.Println(p != nil, err)
	// Output:
	// bump: fixed arena exhausted
	// true <nil>
}

func ExampleFixed_Stats() {
	f := bump.NewFixed(100)
	f.Alloc(30, 1)
	s := f.Stats()
	fmt.Println(s.InUse, s.Idle, s.Reserved)
	// Output: 30 70 100
}
