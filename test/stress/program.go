package stress

import (
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
)

// shared is what the workers of one program have in common.
type shared struct {
	seed uint64
	hook func(*worker) // called before each step; nil but in tests

	// limits is whether memory contexts have some. What these refuse depends on warm
	// memory, from programs before, and on what the collector has found of abandoned
	// contexts. So a program of one goroutine has none, and does the same each time.
	limits bool

	workers []*worker
	thins   *market[thin]
	cells   *market[cell]
	wides   *market[wide]
	bytes   *pool.Bytes
	dirty   bool // bytes has the option Dirty
	arenas  *arena.Pool
	root    *memctx.Context
	buffers chan buffer
	parcels chan parcel
	leases  chan lease
	loans   chan loan

	ops    *atomic.Int64 // of the whole run
	stop   *atomic.Bool  // the time is over
	broken atomic.Bool   // there is a finding
	first  atomic.Pointer[Finding]
}

// newShared makes what a program of so many goroutines needs.
func newShared(seed uint64, goroutines int, ops *atomic.Int64, stop *atomic.Bool) *shared {
	rng := &choices{state: mix(seed)}
	p := &shared{
		seed:    seed,
		limits:  goroutines > 1,
		workers: make([]*worker, goroutines),
		thins:   newMarket[thin](rng),
		cells:   newMarket[cell](rng),
		wides:   newMarket[wide](rng),
		arenas:  newArenaPool(rng),
		buffers: make(chan buffer, 64),
		parcels: make(chan parcel, 16),
		leases:  make(chan lease, 16),
		loans:   make(chan loan, 64),
		ops:     ops,
		stop:    stop,
	}
	p.bytes, p.dirty = newBytes(rng)
	var opts memctx.Config
	if p.limits && rng.oneIn(2) {
		opts.Limit = 1 << 20 << rng.below(5)
	}
	p.root = memctx.New("stress", opts)
	return p
}

// found keeps the first finding, and ends the program.
func (p *shared) found(f *Finding) {
	if f == nil {
		return
	}
	p.first.CompareAndSwap(nil, f)
	p.broken.Store(true)
	p.stop.Store(true)
}

// inspect looks at everything while others are at work in it, as the debug page does.
func (p *shared) inspect() {
	memctx.TakeSnapshot()
	for st := range memctx.Names() {
		if st.Live < 0 || st.Bytes < 0 {
			fail("contexts of one name: %v", st)
		}
	}
	p.arenas.Stats()
	p.bytes.Stats()
	p.cells.cache.Stats()
	p.cells.pool.Stats()
}

// run runs the program: each worker until it has done quota operations. It returns
// what was found, or nil.
func (p *shared) run(quota int64) *Finding {
	for i := range p.workers {
		p.workers[i] = newWorker(p, i)
	}
	var wg sync.WaitGroup
	for _, w := range p.workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			w.run(quota)
		}()
	}
	wg.Wait()
	if f := p.first.Load(); f == nil {
		p.settle(p.workers[0])
	}
	return p.first.Load()
}

// settle verifies and frees what is on its way when all workers have ended. One of
// them does it. Then nothing may be in use.
func (p *shared) settle(w *worker) {
	defer func() {
		w.report()
		if v := recover(); v != nil {
			p.found(w.finding(v))
		}
	}()
	w.note("settle", "program", 0, inHeap, 0)
	for _, s := range w.sets {
		s.drain()
	}
	close(p.buffers)
	for b := range p.buffers {
		b.verify()
		b.put(w)
	}
	close(p.parcels)
	for x := range p.parcels {
		x.verify(w)
		x.put(w)
	}
	close(p.leases)
	for l := range p.leases {
		l.release(w)
	}
	p.root.Delete()
	p.thins.atRest()
	p.cells.atRest()
	p.wides.atRest()
	poolAtRest(p.bytes.Stats())
}
