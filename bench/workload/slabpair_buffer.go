package workload

import (
	"fmt"
	"sync"

	"github.com/haven-mem/haven/pool"
)

// The cases of workload slabpair with byte buffers. A buffer from pool.Bytes is
// all zeros, so that no request sees what another left there. The sync.Pool
// clears its buffers for the same end, as gRPC's pool of buffers does. The
// variants called dirty hand them on as they are: pool.Bytes+dirty has the option
// Dirty. Only the ends of a buffer are written and read, so that what is compared
// is the pool.

// bufferSizes are the cases: bytes and pairs in a round. Clearing a large buffer
// takes longer than all the rest, so there are fewer of them.
var bufferSizes = []struct{ size, pairs int }{{1 << 10, 100_000}, {4 << 10, 50_000}, {64 << 10, 5_000}}

func bufferCases(cfg Config) (cases []Case) {
	for _, c := range bufferSizes {
		if cfg.Quick {
			c.pairs /= 5
		}
		cases = append(cases, Case{
			Name: fmt.Sprintf("buffer=%dKiB", c.size>>10),
			Doc:  "a byte buffer taken and given back, by one goroutine",
			Variants: variantsOf([]string{heapNew, syncPool, poolBytes, syncPoolDirty, poolDirty}, map[string][]Target{
				poolBytes: {fasterThan(syncPool, 1)},
				poolDirty: {fasterThan(syncPoolDirty, 1)},
			}, func(name string) (Instance, error) { return newBuffers(name, c.size, c.pairs), nil }),
		})
	}
	return cases
}

func newBuffers(name string, size, pairs int) Instance {
	seats := make([]seat[byte], 1)
	s := &seats[0]
	buffers := &sync.Pool{New: func() any {
		b := make([]byte, size)
		return &b
	}}
	t := &task{ops: int64(pairs)}
	switch name {
	case heapNew:
		t.run = func(*Round) uint64 { return bufferNew(size, s, pairs) }
	case syncPool:
		t.run = func(*Round) uint64 { return bufferSyncPool(buffers, s, pairs) }
	case syncPoolDirty:
		t.run = func(*Round) uint64 { return bufferSyncPoolDirty(buffers, s, pairs) }
	case poolBytes:
		bytes := pool.NewBytes()
		t.run = func(*Round) uint64 { return bufferBytes(bytes, size, s, pairs) }
	case poolDirty:
		bytes := pool.NewBytes(pool.BytesConfig{Dirty: true})
		t.run = func(*Round) uint64 { return bufferBytesDirty(bytes, size, s, pairs) }
	default:
		panic("workload: no variant " + name)
	}
	return t
}

// useBuffer writes to the ends of b, which have to be zero, and reads them.
func useBuffer(b []byte, i int) uint64 {
	last := &b[len(b)-1]
	b[0] += byte(i)
	*last += byte(i >> 8)
	return uint64(b[0]) + uint64(*last)<<8
}

func bufferNew(size int, s *seat[byte], n int) (sum uint64) {
	for i := range n {
		b := make([]byte, size)
		s.last = &b[0]
		sum += useBuffer(b, i)
	}
	return sum
}

func bufferSyncPool(pool *sync.Pool, s *seat[byte], n int) (sum uint64) {
	for i := range n {
		p := pool.Get().(*[]byte)
		b := *p
		clear(b)
		s.last = &b[0]
		sum += useBuffer(b, i)
		pool.Put(p)
	}
	return sum
}

func bufferSyncPoolDirty(pool *sync.Pool, s *seat[byte], n int) (sum uint64) {
	for i := range n {
		p := pool.Get().(*[]byte)
		b := *p
		b[0], b[len(b)-1] = 0, 0
		s.last = &b[0]
		sum += useBuffer(b, i)
		pool.Put(p)
	}
	return sum
}

func bufferBytes(pool *pool.Bytes, size int, s *seat[byte], n int) (sum uint64) {
	for i := range n {
		p := pool.Get(size)
		b := *p
		s.last = &b[0]
		sum += useBuffer(b, i)
		pool.Put(p)
	}
	return sum
}

func bufferBytesDirty(pool *pool.Bytes, size int, s *seat[byte], n int) (sum uint64) {
	for i := range n {
		p := pool.Get(size)
		b := *p
		b[0], b[len(b)-1] = 0, 0
		s.last = &b[0]
		sum += useBuffer(b, i)
		pool.Put(p)
	}
	return sum
}
