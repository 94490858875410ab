package pool

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/config"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/track"
)

// A Bytes keeps byte buffers for whoever needs one next: of messages, requests,
// blocks. It has a size class for each quarter of a power of two from 64 bytes to
// 32 MiB, so that a buffer is at most 25 % larger than what was asked for. The
// zero Bytes is ready; make one with [NewBytes] for settings. Any number of
// goroutines may use a Bytes. It must not be copied after first use. It has the
// methods of gRPC's mem.BufferPool.
//
// A nil *Bytes stands for Go's heap: Get makes a buffer, and Put leaves it to the
// garbage collector.
//
// Each size class works as a [Pool] does: what is said there of Ps, of trimming,
// and of objects that are used after Put or put twice, holds for buffers. One is
// known by the address of its slice header, *p: two headers that share an array
// are two buffers to a Bytes, and must not both be put.
//
// At most 64 MiB lie idle in all classes together, or as many as BytesConfig.MaxBytes says.
// The magazines of the Ps count as if they were full. They hold at most 64 KiB
// each, or one buffer, and those of one class an eighth of the bound; buffers too
// large for that go to the depot of their class one by one. Where there is no room
// a buffer is dropped.
//
// Nobody sees the bytes of another: Put clears the buffer, over its whole
// capacity, which takes about 25 ns for 4 KiB and 400 ns for 64 KiB. A Bytes that is
// Dirty leaves that out.
type Bytes struct {
	classes [numClasses]atomic.Pointer[depot] // nil: not used yet
	dirty   bool
	hooks   atomic.Uint32 // Get and Put have more to do than the fast paths do
	once    sync.Once     // start
	budget
}

// NewBytes returns an empty Bytes with the settings of conf, of which there is one or
// none. It panics if a setting is out of its range; see [BytesConfig].
func NewBytes(conf ...BytesConfig) *Bytes {
	c := config.Optional("pool", "NewBytes", conf)
	config.AtLeast("pool: BytesConfig.MaxBytes", c.MaxBytes, -1, bytesOrUsual)
	c.check("BytesConfig")
	b := new(Bytes)
	b.once.Do(func() { b.start(c) })
	return b
}

// start makes b ready, once.
func (b *Bytes) start(c BytesConfig) {
	if c.MaxBytes == 0 {
		c.MaxBytes = chunk.Retain
	}
	b.dirty = c.Dirty
	b.typ = "*[]uint8"
	b.share = 16
	b.classed = true
	b.configure("Bytes", c)
	b.marks.Open(&b.hooks)
	b.publish()
}

// title returns what messages call b.
func (b *Bytes) title() string {
	if b == nil {
		return "a nil Bytes"
	}
	return account.Title("Bytes", b.name)
}

// startZero is start for a Bytes that NewBytes did not make.
func (b *Bytes) startZero() { b.start(BytesConfig{}) }

// Get returns a buffer of n bytes, all zero unless b is Dirty. Its capacity is
// the size of its class, and all of that is the caller's. For more than 32 MiB Get
// makes a buffer, which Put will drop. Get panics if n is negative, or larger than
// what Go's heap can hold. It costs what [Pool.Get] does, and some two nanoseconds
// to find the class.
func (b *Bytes) Get(n int) *[]byte {
	if check.Enabled {
		return b.getChecked(n)
	}
	if b == nil || uint(n) > largest {
		return b.get(n)
	}
	if b.hooks.Load()&track.HookOut != 0 {
		return b.get(n)
	}
	if d := b.classes[classFor(n)].Load(); d != nil {
		pid := magazine.Enter()
		if t := d.set.Table(); t != nil && t.Has(pid) {
			if c := t.Cell(pid); c.CanPop() {
				x := c.Pop()
				c.Leave()
				return grantBuffer(x, n)
			} else {
				c.Leave()
			}
		} else {
			magazine.Exit()
		}
	}
	return b.get(n)
}

// Put gives the buffer *p to b, where it came from Get or not. Neither p nor *p
// nor another slice of the same array must be used afterwards. The capacity of *p
// chooses the class and is cut down to its size, which is also what counts against
// MaxBytes; the length does not matter. A buffer of less than 64 bytes or more
// than 32 MiB is dropped. Put panics if p is nil, and if a buffer was found to be
// put twice (see [Pool]). It costs what [Pool.Put] does, and the time to clear the
// buffer, unless b is Dirty.
func (b *Bytes) Put(p *[]byte) {
	if check.Enabled && b.checks() && p != nil {
		b.putChecked(p)
		return
	}
	b.mustHave(p)
	if b == nil || p == nil || uint(cap(*p)-smallest) > largest-smallest {
		b.refuse(p)
		return
	}
	i := classOf(cap(*p))
	size := classSize(i)
	if !b.dirty {
		clear((*p)[:size])
	}
	if cap(*p) != size {
		*p = (*p)[:0:size]
	}
	watched := b.hooks.Load()&track.HookBack != 0 && b.watchPut(p)
	revokeBuffer(p)
	if watched {
		return
	}
	if d := b.classes[i].Load(); d != nil {
		pid := magazine.Enter()
		if t := d.set.Table(); t != nil && t.Has(pid) {
			if c := t.Cell(pid); c.CanPush() {
				c.Push(unsafe.Pointer(p))
				c.Leave()
				return
			} else {
				c.Leave()
			}
		} else {
			magazine.Exit()
		}
	}
	b.class(i).put(unsafe.Pointer(p), uint(size))
}

// get is Get's way when the P's magazine is empty, the size unusual, or b hooked.
//
//go:noinline
func (b *Bytes) get(n int) *[]byte {
	if n < 0 || uint(n) > chunk.MaxBytes {
		panic(fmt.Sprintf("pool: Get(%d) of %s: want a number of bytes from 0 to %d", n, b.title(), uint(chunk.MaxBytes)))
	}
	if b == nil {
		s := make([]byte, n)
		return &s
	}
	if n > largest {
		b.once.Do(b.startZero)
		b.mu.Lock()
		b.large.misses++
		b.left(1)
		b.mu.Unlock()
		s := make([]byte, n)
		return &s
	}
	i := classFor(n)
	d := b.class(i)
	if b.hooks.Load()&track.HookOut != 0 {
		if p := b.getMarked(d, i, n); p != nil {
			return p
		}
	}
	x := d.get()
	if x == nil {
		s := make([]byte, n, classSize(i))
		return &s
	}
	return grantBuffer(x, n)
}

// refuse is Put for what no size class takes.
func (b *Bytes) refuse(p *[]byte) {
	if p == nil {
		panic(fmt.Sprintf("pool: Put of a nil *[]byte into %s", b.title()))
	}
	if b == nil {
		return
	}
	b.once.Do(b.startZero)
	b.mu.Lock()
	b.large.puts++
	b.large.dropped++
	b.away--
	b.mu.Unlock()
}

// class returns the depot of class i.
func (b *Bytes) class(i int) *depot {
	b.once.Do(b.startZero)
	if d := b.classes[i].Load(); d != nil {
		return d
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if d := b.classes[i].Load(); d != nil {
		return d
	}
	const inMagazine = 64 << 10 // bytes, or one buffer
	d := new(depot)
	size := classSize(i)
	d.open(&b.budget, size, max(1, inMagazine/size), false, true)
	at, _ := slices.BinarySearchFunc(b.depots, size, func(d *depot, size int) int { return size - d.size })
	b.depots = slices.Insert(b.depots, at, d)
	b.classes[i].Store(d)
	return d
}

// Trim drops all idle buffers but Floor, of the smallest, those of the Ps
// included, and returns how many bytes they have. It is to a Bytes what
// [Pool.Trim] is to a Pool, and stops the world once for each size class in use.
func (b *Bytes) Trim() int {
	if b == nil {
		return 0
	}
	_, bytes := b.shrink()
	return bytes
}

// Stats returns the numbers of b. It takes the lock for some nanoseconds for each
// P and each size class in use. For a nil Bytes they are zero.
func (b *Bytes) Stats() Stats {
	if b == nil {
		return Stats{}
	}
	b.once.Do(b.startZero)
	return b.stats()
}
