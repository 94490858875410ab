package pool_test

import (
	"bytes"
	"fmt"
	"time"

	"github.com/haven-mem/haven/pool"
)

// A Record is what a request works with.
type Record struct {
	User  string
	Lines [][]byte
	Buf   []byte
}

// NewRecord makes what is costly to make.
func NewRecord() *Record { return &Record{Buf: make([]byte, 0, 4096)} }

// Reset drops what the record refers to and keeps the buffer.
func (r *Record) Reset() { *r = Record{Buf: r.Buf[:0]} }

func Example() {
	records := pool.New(NewRecord, pool.Config[Record]{Name: "records", Reset: (*Record).Reset, Max: 10_000})

	r := records.Get()
	r.User = "ada"
	r.Buf = append(r.Buf, "hello"...)
	fmt.Printf("%s: %s\n", r.User, r.Buf)
	records.Put(r)

	s := records.Stats()
	fmt.Println(s.Idle, "idle,", s.InUse, "in use")
	// Output:
	// ada: hello
	// 1 idle, 0 in use
}

// A zero Pool makes its objects with new.
func ExamplePool() {
	var scratch pool.Pool[[256]int]

	work := func(n int) (sum int) {
		x := scratch.Get()
		defer scratch.Put(x)
		for i := range x {
			x[i] = i * n // all of it: what was there is somebody else's
		}
		for _, v := range x {
			sum += v
		}
		return sum
	}
	fmt.Println(work(1), work(2))
	// Output: 32640 65280
}

// Limits: so many objects, so many bytes with what is behind their pointers, and a
// few that always stay.
func ExampleNew_limits() {
	buffers := pool.New[bytes.Buffer](nil,
		pool.Config[bytes.Buffer]{
			Max:      1000,
			MaxBytes: 8 << 20,
			Cost:     (*bytes.Buffer).Cap,
			Floor:    10,
			Reset:    (*bytes.Buffer).Reset,
		},
	)
	small, large := buffers.Get(), buffers.Get()
	small.WriteString("a few words")
	large.Write(make([]byte, 100<<20)) // one request in a million
	buffers.Put(small)
	buffers.Put(large)

	s := buffers.Stats()
	fmt.Println(s.Idle, "idle,", s.Bytes, "bytes,", s.DroppedBytes, "dropped for its size")
	// Output: 1 idle, 64 bytes, 1 dropped for its size
}

// A pool that is used now and then gives back what it has after a while.
func ExampleConfig_idle() {
	images := pool.New(func() *[1 << 20]byte { return new([1 << 20]byte) },
		pool.Config[[1 << 20]byte]{
			Idle:  30 * time.Second,
			Floor: 1,
		},
	)
	images.Put(images.Get())
	fmt.Println(images.Stats().Idle)
	// Output: 1
}

func ExamplePool_Trim() {
	p := pool.New(nil, pool.Config[Record]{Floor: 10})
	for range 500 {
		p.Put(new(Record))
	}
	fmt.Println(p.Trim(), "dropped,", p.Stats().Idle, "left")
	// Output: 490 dropped, 10 left
}

// A Bytes hands out buffers of any size, zero, and with some room to spare.
func ExampleBytes() {
	var buffers pool.Bytes

	b := buffers.Get(1000)
	copy(*b, "a message")
	fmt.Println(len(*b), cap(*b))
	buffers.Put(b) // cleared

	c := buffers.Get(1024) // of the same size class
	fmt.Printf("%q\n", (*c)[:4])
	buffers.Put(c)
	// Output:
	// 1000 1024
	// "\x00\x00\x00\x00"
}

// What lies idle is bounded for all size classes together.
func ExampleNewBytes_limits() {
	buffers := pool.NewBytes(pool.BytesConfig{Name: "messages", MaxBytes: 4 << 20, Floor: 16, Idle: time.Minute})
	for _, n := range []int{100, 10_000, 3 << 20, 3 << 20} {
		b := make([]byte, n)
		buffers.Put(&b)
	}
	s := buffers.Stats()
	fmt.Println(s.Idle, "idle,", s.DroppedBytes, "dropped,", s.Bytes <= 4<<20)
	// Output: 3 idle, 1 dropped, true
}

// A writer that overwrites all it sends needs no cleared buffers.
func ExampleBytesConfig_dirty() {
	buffers := pool.NewBytes(pool.BytesConfig{Dirty: true})
	b := buffers.Get(5)
	n := copy(*b, "hello")
	fmt.Printf("%s\n", (*b)[:n])
	buffers.Put(b)
	// Output: hello
}

// Each worker has a Local of its own.
func ExampleLocal() {
	var scratch pool.Local[Record]
	for _, user := range []string{"ada", "grace", "linus"} {
		r := scratch.Get()
		r.User = user
		scratch.Put(r)
	}
	s := scratch.Stats()
	fmt.Println(s.Misses, "made,", s.Hits, "used again")
	// Output: 1 made, 2 used again
}

func ExampleNewLocal_limits() {
	scratch := pool.NewLocal(NewRecord, pool.LocalConfig[Record]{Max: 2, Reset: (*Record).Reset})
	var batch []*Record
	for range 5 {
		batch = append(batch, scratch.Get())
	}
	for _, r := range batch {
		scratch.Put(r)
	}
	s := scratch.Stats()
	fmt.Println(s.Idle, "kept,", s.DroppedFull, "dropped")
	// Output: 2 kept, 3 dropped
}

// A program shows what its pools have.
func ExamplePools() {
	sessions := pool.New(nil, pool.Config[[256]byte]{Name: "sessions"})
	sessions.Put(sessions.Get())
	for s := range pool.Pools() {
		if s.Name == "sessions" {
			fmt.Println(s)
		}
	}
	// Output: pool "sessions" of *[256]uint8: 0 in use, high water 1, 1 idle (1 cached, 0 in the depot) with 256 bytes, 0 hits, 1 miss, 1 put, 0 trimmed, 0 dropped
}
