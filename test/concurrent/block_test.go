package concurrent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"unsafe"

	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A block is memory that has one owner and is full of cookies, which its
// address, its size and a seed determine.
type block struct {
	source string
	seed   uint64
	words  []uint64
	bytes  []byte  // of memory that is not of words
	link   **stamp // in the memory, if that has a pointer; what it refers to is referred to by nothing else
	back   func()
}

// A stamp is an object of Go's heap.
type stamp struct {
	self *stamp
	seed uint64
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// start is what the cookies of the block begin with.
func (b *block) start() uint64 {
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(b.words)))
	if b.bytes != nil {
		addr = uintptr(unsafe.Pointer(unsafe.SliceData(b.bytes)))
	}
	return mix(b.seed ^ mix(uint64(addr)^mix(uint64(len(b.words)+len(b.bytes)))))
}

// fill writes the cookies.
func (b *block) fill() {
	start := b.start()
	for i := range b.words {
		b.words[i] = mix(start + uint64(i))
	}
	for i := range b.bytes {
		b.bytes[i] = byte(start>>32) ^ byte(i) ^ byte(i>>8)
	}
	if b.link != nil {
		s := &stamp{seed: start}
		s.self = s
		*b.link = s
	}
}

// free verifies the cookies and gives the memory back.
func (b *block) free() error {
	start := b.start()
	for i, w := range b.words {
		if want := mix(start + uint64(i)); w != want {
			return fmt.Errorf("%s: word %d of %d at %p is %#x, want %#x", b.source, i, len(b.words), b.words, w, want)
		}
	}
	for i, c := range b.bytes {
		if want := byte(start>>32) ^ byte(i) ^ byte(i>>8); c != want {
			return fmt.Errorf("%s: byte %d of %d at %p is %#x, want %#x", b.source, i, len(b.bytes), b.bytes, c, want)
		}
	}
	if b.link != nil {
		if s := *b.link; s == nil || s.self != s || s.seed != start {
			return fmt.Errorf("%s: what the object at %p refers to is not what it was: %+v", b.source, b.words, s)
		}
	}
	b.back()
	return nil
}

// A source is a cache or a pool.
type source interface {
	name() string
	alloc(rng *rand.Rand) (*block, error) // nil if a capacity is reached
	atRest() error                        // when all blocks were freed
}

// A shape is what an object of a source looks like: T points to cookies.
type shape[T any] interface {
	*T
	cookies() []uint64
	link() **stamp // nil if there is none
}

// The shapes, from the size of a tag to more than a slab has.
type (
	tag  struct{ words [2]uint64 }
	node struct {
		stamp *stamp
		words [5]uint64
	}
	odd struct { // a size that no size class has
		words [9]uint64
		stamp *stamp
		more  [3]uintptr
	}
	page  struct{ words [512]uint64 }
	large struct {
		words [2500]uint64
		stamp *stamp
	}
)

func (x *tag) cookies() []uint64   { return x.words[:] }
func (x *node) cookies() []uint64  { return x.words[:] }
func (x *odd) cookies() []uint64   { return x.words[:] }
func (x *page) cookies() []uint64  { return x.words[:] }
func (x *large) cookies() []uint64 { return x.words[:] }

func (x *tag) link() **stamp   { return nil }
func (x *node) link() **stamp  { return &x.stamp }
func (x *odd) link() **stamp   { return &x.stamp }
func (x *page) link() **stamp  { return nil }
func (x *large) link() **stamp { return &x.stamp }

// newBlock fills object p, which must be zero.
func newBlock[T any, P shape[T]](source string, p P, rng *rand.Rand, back func()) (*block, error) {
	b := &block{source: source, seed: rng.Uint64(), words: p.cookies(), link: p.link(), back: back}
	for i, w := range b.words {
		if w != 0 {
			return nil, fmt.Errorf("word %d of %d of a new object at %p is %#x, want 0", i, len(b.words), p, w)
		}
	}
	if b.link != nil && *b.link != nil {
		return nil, fmt.Errorf("a new object at %p refers to %p", p, *b.link)
	}
	b.fill()
	return b, nil
}

// A cacheSource is a slab.Cache, all of whose ways to allocate are used.
type cacheSource[T any, P shape[T]] struct {
	*slab.Cache[T]
	title    string
	capacity int
}

func newCache[T any, P shape[T]](title string, capacity int, conf slab.Config[T]) source {
	conf.Capacity = capacity
	return &cacheSource[T, P]{slab.NewCache[T](conf), title, capacity}
}

func (s *cacheSource[T, P]) name() string { return s.title }

func (s *cacheSource[T, P]) alloc(rng *rand.Rand) (*block, error) {
	if rng.IntN(1000) == 0 {
		s.Trim()
	}
	p, err := s.take(rng)
	if s.capacity > 0 && errors.Is(err, slab.ErrExhausted) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return newBlock[T, P](s.title, p, rng, func() { s.Free(p) })
}

func (s *cacheSource[T, P]) take(rng *rand.Rand) (*T, error) {
	switch way := rng.IntN(16); {
	case way == 0:
		batch := make([]*T, 1+rng.IntN(100))
		if err := s.AllocBatch(batch); err != nil {
			return nil, err
		}
		s.FreeBatch(batch[1:])
		return batch[0], nil
	case way == 1:
		r, err := s.Reserve(1 + rng.IntN(10))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		return r.Take(), nil
	case way < 4 || s.capacity > 0:
		return s.TryAlloc()
	default:
		return s.Alloc(), nil
	}
}

func (s *cacheSource[T, P]) atRest() error {
	st := s.Stats()
	if st.InUse != 0 || st.Hits+st.Misses != st.Frees || st.Frees == 0 {
		return fmt.Errorf("all was freed, but: %v", st)
	}
	s.Trim()
	if st = s.Stats(); st.Objects != 0 || st.Bytes != 0 {
		return fmt.Errorf("all was freed, but after Trim: %v", st)
	}
	return nil
}

// A poolSource is a pool.Pool whose objects are set to zero when they are put.
type poolSource[T any, P shape[T]] struct {
	*pool.Pool[T]
	title string
}

func newPool[T any, P shape[T]](title string, conf pool.Config[T]) source {
	conf.Reset = func(p *T) { *p = *new(T) }
	return &poolSource[T, P]{pool.New(nil, conf), title}
}

func (s *poolSource[T, P]) name() string { return s.title }

func (s *poolSource[T, P]) alloc(rng *rand.Rand) (*block, error) {
	if rng.IntN(1000) == 0 {
		s.Trim()
	}
	p := s.Get()
	return newBlock[T, P](s.title, p, rng, func() { s.Put(p) })
}

func (s *poolSource[T, P]) atRest() error { return poolAtRest(s.Stats()) }

// A bytesSource is a pool.Bytes.
type bytesSource struct {
	*pool.Bytes
	title string
	most  uint // a block is asked for with less than 1<<most bytes
	dirty bool // has the option Dirty
}

func (s *bytesSource) name() string { return s.title }

func (s *bytesSource) alloc(rng *rand.Rand) (*block, error) {
	if rng.IntN(4000) == 0 {
		s.Trim()
	}
	n := rng.IntN(1 << rng.UintN(s.most+1)) // all magnitudes are as frequent
	p := s.Get(n)
	if p == nil || len(*p) != n {
		return nil, fmt.Errorf("Get(%d) returned %v", n, p)
	}
	all := (*p)[:cap(*p)]
	if !s.dirty {
		for i, c := range all {
			if c != 0 {
				return nil, fmt.Errorf("byte %d of a new buffer of %d at %p is %#x, want 0", i, len(all), all, c)
			}
		}
	}
	b := &block{source: s.title, seed: rng.Uint64(), bytes: all}
	b.back = func() {
		*p = (*p)[:n/2] // the length must not matter
		s.Put(p)
	}
	b.fill()
	return b, nil
}

func (s *bytesSource) atRest() error { return poolAtRest(s.Stats()) }

func poolAtRest(st pool.Stats) error {
	if st.InUse != 0 || st.Hits+st.Misses != st.Puts || st.Puts == 0 {
		return fmt.Errorf("all was put, but: %v", st)
	}
	if st.Misses != uint64(st.Idle)+st.Trimmed+st.Dropped() || st.DroppedTwice != 0 {
		return fmt.Errorf("not all that was made lies idle or was let go: %v", st)
	}
	return nil
}

// sources returns fresh ones. The capacity and the bounds that some have are so
// low that they matter.
func sources() []source {
	return []source{
		newCache[tag, *tag]("Cache of 16 bytes", 0, slab.Config[tag]{}),
		newCache[node, *node]("Cache of 48 bytes", 0, slab.Config[node]{}),
		&bytesSource{pool.NewBytes(), "Bytes", 18, false},
		newCache[odd, *odd]("Cache of an odd size", 0, slab.Config[odd]{Reset: func(x *odd) { *x = odd{} }}),
		newPool[node, *node]("Pool of 48 bytes", pool.Config[node]{}),
		&bytesSource{pool.NewBytes(pool.BytesConfig{MaxBytes: 256 << 10, Dirty: true}), "dirty Bytes with a bound", 16, true},
		newPool[page, *page]("Pool of 4096 bytes", pool.Config[page]{Max: 20}),
		newPool[odd, *odd]("Pool with Cost", pool.Config[odd]{MaxBytes: 64 << 10, Cost: func(x *odd) int { return 100 + int(uintptr(unsafe.Pointer(x))>>4%16) }}),
		newCache[page, *page]("Cache of 4096 bytes", 40, slab.Config[page]{}),
		newCache[large, *large]("Cache of 20 KB", 0, slab.Config[large]{}),
	}
}
