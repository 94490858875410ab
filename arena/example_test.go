package arena_test

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/haven-mem/haven/arena"
)

type Node struct {
	Name        string
	Left, Right *Node
}

func Example() {
	a := arena.NewArena(arena.Config{Name: "request"})
	n := arena.New[Node](a)
	n.Name = arena.String(a, "root")
	n.Left = arena.NewFrom(a, Node{Name: "leaf"})
	s := arena.MakeSlice[int](a, 0, 8)
	s = arena.Append(a, s, 1, 2, 3)
	fmt.Println(n.Name, n.Left.Name, s)
	a.Reset() // all gone, memory kept
	fmt.Println(*arena.New[Node](a) == Node{})
	// Output:
	// root leaf [1 2 3]
	// true
}

func ExampleNewArena() {
	a := arena.NewArena(arena.Config{
		Name:       "query",
		Limit:      64 << 20, // no more than this in all
		Retain:     1 << 20,  // no more than this over a Reset
		FirstChunk: 4096,
		MaxChunk:   256 << 10,
	})
	arena.New[int64](a)
	fmt.Println(a.Stats().Name, a.Stats().InUse)
	// Output: query 8
}

func ExampleNew() {
	var a arena.Arena // the zero Arena is ready
	n := arena.New[Node](&a)
	n.Left = new(Node)                              // on Go's heap: the garbage collector sees it
	fmt.Println(n.Name == "", *arena.New[int](nil)) // nil: on the heap as well
	// Output: true 0
}

func ExampleNewFrom() {
	a := arena.NewArena()
	leaf := arena.NewFrom(a, Node{Name: "leaf"})
	root := arena.NewFrom(a, Node{Name: "root", Left: leaf})
	fmt.Println(root.Left.Name)
	// Output: leaf
}

func ExampleMakeSlice() {
	a := arena.NewArena()
	s := arena.MakeSlice[string](a, 2, 10)
	fmt.Printf("%q %d\n", s, cap(s))
	// Output: ["" ""] 10
}

func ExamplePush() {
	a := arena.NewArena()
	var s []int
	for i := range 5 {
		s = arena.Push(a, s, i*i)
	}
	fmt.Println(s)
	// Output: [0 1 4 9 16]
}

func ExampleAppend() {
	a := arena.NewArena()
	s := arena.Append(a, nil, 1, 4, 9)
	fromHeap := []int{7}
	grown := arena.Append(a, fromHeap, 8, 9) // copied; the original is left alone
	fmt.Println(s, fromHeap, grown)
	// Output: [1 4 9] [7] [7 8 9]
}

func ExampleString() {
	a := arena.NewArena()
	line := []byte("GET /index.html")
	method := arena.String(a, line[:3])
	copy(line, "PUT")
	fmt.Println(method)
	// Output: GET
}

func ExampleClone() {
	a := arena.NewArena()
	n := arena.NewFrom(a, Node{Name: "result"})
	kept := arena.Clone(n)
	name := arena.Clone(arena.String(a, "text"))
	a.Reset()
	fmt.Println(kept.Name, name)
	// Output: result text
}

func ExampleNewOf() {
	a := arena.NewArena()
	v := arena.NewOf(a, reflect.TypeFor[Node]())
	v.Elem().FieldByName("Name").SetString("decoded")
	fmt.Println(v.Interface().(*Node).Name)
	// Output: decoded
}

func ExampleTryNew() {
	a := arena.NewArena(arena.Config{Name: "upload", Limit: 1000})
	_, err := arena.TryNew[[4000]byte](a)
	fmt.Println(errors.Is(err, arena.ErrLimit))
	var limit *arena.LimitError
	if errors.As(err, &limit) {
		fmt.Println(limit.Name, limit.Requested, limit.Limit)
	}
	_, err = arena.TryNew[int](a) // the arena stays usable
	fmt.Println(err)
	// Output:
	// true
	// upload 4000 1000
	// <nil>
}

func ExampleTryMakeSlice() {
	a := arena.NewArena(arena.Config{Name: "upload", Limit: 1000})
	_, err := arena.TryMakeSlice[byte](a, 0, 4000)
	fmt.Println(err)
	// Output: arena: arena "upload" reached its limit: 4000 bytes requested, 0 of 1000 bytes in chunks
}

func ExampleConfig_limit() {
	a := arena.NewArena(arena.Config{Name: "query", Limit: 1 << 20})
	defer func() { fmt.Println(recover()) }()
	for {
		arena.New[[100000]byte](a)
	}
	// Output: arena: arena "query" reached its limit: 100000 bytes requested, 1000000 of 1048576 bytes in chunks
}

func ExampleLaneOf() {
	a := arena.NewArena()
	nodes := arena.LaneOf[Node](a) // the look-up, once
	var list *Node
	for range 1000 {
		n := nodes.New()
		n.Right, list = list, n
	}
	fmt.Println(a.Stats().Lanes[0].Count)
	// Output: 1000
}

func ExampleLane() {
	var nodes arena.Lane[Node] // on its own, without an arena
	for range 3 {
		for range 100 {
			nodes.New()
		}
		nodes.Reset()
	}
	s := nodes.Append(nodes.MakeSlice(0, 1), Node{Name: "a"}, Node{Name: "b"})
	fmt.Println(len(s), s[1].Name)
	// Output: 2 b
}

func ExampleArena_Reset() {
	a := arena.NewArena()
	for range 3 { // from the second round on nothing is allocated
		for i := range 100 {
			*arena.New[int](a) = i
		}
		a.Reset()
	}
	fmt.Println(a.Stats().InUse, *arena.New[int](a))
	// Output: 0 0
}

func ExampleArena_Free() {
	a := arena.NewArena(arena.Config{Name: "done"})
	n := arena.NewFrom(a, Node{Name: "still here"})
	a.Free()
	fmt.Println(n.Name)
	defer func() { fmt.Println(recover()) }()
	arena.New[Node](a)
	// Output:
	// still here
	// arena: New after Free of arena "done"
}

func ExampleArena_Mark() {
	a := arena.NewArena()
	kept := arena.NewFrom(a, Node{Name: "kept"})
	for range 3 {
		m := a.Mark()
		arena.MakeSlice[Node](a, 100, 100) // for this step only
		a.Release(m)
	}
	fmt.Println(kept.Name, a.Stats().Lanes[0].Count)
	// Output: kept 1
}

func ExampleArena_Release() {
	a := arena.NewArena(arena.Config{Name: "parser"})
	outer := a.Mark()
	a.Mark() // forgotten
	defer func() { fmt.Println(recover()) }()
	a.Release(outer)
	// Output: arena: Release out of order on arena "parser": mark 1 has 1 mark open inside it
}

func ExampleArena_OnReset() {
	a := arena.NewArena()
	name := arena.String(a, "temporary file")
	a.OnReset(func() { fmt.Println("close", name) })
	a.OnReset(func() { fmt.Println("flush", name) })
	a.Reset()
	// Output:
	// flush temporary file
	// close temporary file
}

func ExampleArena_Trim() {
	a := arena.NewArena()
	for range 2 {
		arena.MakeSlice[byte](a, 0, 1<<20)
		a.Reset()
	}
	arena.MakeSlice[byte](a, 0, 1<<20)
	a.Reset()
	fmt.Println(a.Stats().Reserved)
	a.Trim(0)
	fmt.Println(a.Stats().Reserved)
	// Output:
	// 1048576
	// 0
}

func ExampleArena_Stats() {
	a := arena.NewArena(arena.Config{Name: "request"})
	arena.New[int64](a)
	arena.String(a, "hello")
	s := a.Stats()
	for _, l := range s.Lanes {
		fmt.Println(l.Type, l.Count, l.InUse)
	}
	fmt.Println(s.Name, s.InUse, s.InUse+s.Idle+s.Gaps == s.Reserved)
	// Output:
	// int64 1 8
	// uint8 5 5
	// request 13 true
}

func ExamplePool() {
	pool := arena.NewPool(arena.Config{Name: "request", Retain: 1 << 20})
	for range 3 {
		a := pool.Get()
		n := arena.New[Node](a)
		n.Name = arena.String(a, "handled")
		fmt.Println(n.Name)
		pool.Put(a) // only once nothing points into it
	}
	s := pool.Stats()
	fmt.Println(s.Gets, s.Hits, s.Misses)
	// Output:
	// handled
	// handled
	// handled
	// 3 2 1
}
