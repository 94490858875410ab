package slab_test

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/haven-mem/haven/slab"
)

type Conn struct {
	ID   int
	Peer *Conn
}

func ExampleCache() {
	var conns slab.Cache[Conn] // the zero Cache is ready
	a, b := conns.Alloc(), conns.Alloc()
	*a = Conn{ID: 1, Peer: b} // the garbage collector sees Peer
	*b = Conn{ID: 2, Peer: a}
	fmt.Println(a.Peer.ID, conns.Stats().InUse)
	conns.Free(a) // by any goroutine
	conns.Free(b)
	fmt.Println(*conns.Alloc() == Conn{})
	// Output:
	// 2 2
	// true
}

func ExampleNewCache() {
	conns := slab.NewCache(slab.Config[Conn]{
		Name:     "conns", // for panics, errors and statistics
		Capacity: 10_000,  // no more than that at a time
		Init:     func(c *Conn) { c.ID = -1 },
	})
	fmt.Println(conns.Alloc().ID)
	// Output: -1
}

func ExampleConfig_name() {
	conns := slab.NewCache(slab.Config[Conn]{Name: "conns"})
	defer func() { fmt.Println(recover()) }()
	conns.Free(nil)
	// Output: slab: Free of a nil *slab_test.Conn in cache "conns"
}

func ExampleConfig_capacity() {
	conns := slab.NewCache(slab.Config[Conn]{Name: "conns", Capacity: 1})
	conns.Alloc()
	defer func() {
		err, _ := recover().(error)
		fmt.Println(err)
		fmt.Println(errors.Is(err, slab.ErrExhausted))
	}()
	conns.Alloc()
	// Output:
	// slab: capacity reached: cache "conns", 1 of 1 object in use, 1 more wanted
	// true
}

func ExampleConfig_init() {
	buffers := slab.NewCache(slab.Config[bytes.Buffer]{
		Init:  func(b *bytes.Buffer) { b.Grow(4096) }, // once for each object
		Reset: (*bytes.Buffer).Reset,                  // keeps what Init made
	})
	b := buffers.Alloc()
	b.WriteString("reused")
	buffers.Free(b)
	b = buffers.Alloc()
	fmt.Println(b.Len(), b.Cap() >= 4096)
	// Output: 0 true
}

func ExampleCache_TryAlloc() {
	conns := slab.NewCache(slab.Config[Conn]{Name: "conns", Capacity: 2})
	for range 3 {
		c, err := conns.TryAlloc()
		if errors.Is(err, slab.ErrExhausted) {
			fmt.Println("turned away:", err)
			break
		}
		c.ID = 1
	}
	// Output: turned away: slab: capacity reached: cache "conns", 2 of 2 objects in use, 1 more wanted
}

func ExampleCache_AllocBatch() {
	conns := slab.NewCache(slab.Config[Conn]{Capacity: 100})
	batch := make([]*Conn, 80)
	fmt.Println(conns.AllocBatch(batch), conns.Stats().InUse)
	fmt.Println(conns.AllocBatch(make([]*Conn, 30))) // all or none
	conns.FreeBatch(batch)
	fmt.Println(batch[0], conns.Stats().InUse)
	// Output:
	// <nil> 80
	// slab: capacity reached: a cache without a name, 80 of 100 objects in use, 30 more wanted
	// <nil> 0
}

func ExampleCache_Reserve() {
	conns := slab.NewCache(slab.Config[Conn]{Capacity: 3})
	r, err := conns.Reserve(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	conns.Alloc() // others take what is left
	_, err = conns.TryAlloc()
	fmt.Println(err)
	r.Take().ID = 1 // cannot fail
	r.Take().ID = 2
	fmt.Println(r.Len())
	// Output:
	// slab: capacity reached: a cache without a name, 3 of 3 objects in use, 1 more wanted
	// 0
}

func ExampleCache_Trim() {
	var conns slab.Cache[Conn]
	batch := make([]*Conn, 10_000)
	conns.AllocBatch(batch)
	conns.FreeBatch(batch)
	fmt.Println(conns.Trim() > 0, conns.Stats().Slabs)
	// Output: true 0
}

func ExampleCache_Stats() {
	conns := slab.NewCache(slab.Config[[64]byte]{Name: "conns"})
	batch := make([]*[64]byte, 100)
	conns.AllocBatch(batch)
	conns.FreeBatch(batch[:40])
	s := conns.Stats()
	fmt.Println(s.Name, s.InUse, s.Objects, s.ObjectSize, s.PerSlab, s.SlabsInUse, s.Slabs)
	// Output: conns 60 128 64 128 1 1
}

func ExampleCaches() {
	conns := slab.NewCache(slab.Config[Conn]{Name: "example conns"})
	conns.Alloc()
	for s := range slab.Caches() {
		if s.Name == "example conns" {
			fmt.Println(s.Name, s.InUse)
		}
	}
	conns.Free(conns.Alloc()) // a cache that is dropped is not listed
	// Output: example conns 1
}
