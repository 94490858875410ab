package stress

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/slab"
)

// contexts is how many memory contexts a worker has at most.
const contexts = 20

// A shapeSet is a set of whatever shape.
type shapeSet interface {
	step()
	shake()
	evict(h home, level int)
	leave(h home)
	end()
	drain()
}

// A worker is one goroutine of a program. Its choices follow from the program's seed
// and its number.
type worker struct {
	choices
	id     int
	base   uint64 // what the states of the steps are made from
	shared *shared

	sets    [3]shapeSet
	cells   *set[cell, *cell] // one of sets
	arenas  [2]scope
	bumps   [2]*bump.Arena
	blocks  [24]block
	raws    [8]raw
	table   *slab.Table[row]
	threads [24]thread
	buffers [24]buffer
	parcels [4]parcel
	root    *memctx.Context
	nodes   [contexts]node

	text    []byte
	scratch [64]uint64

	ops      int64
	reported int64 // of ops, in shared
	steps    uint64
	loans    atomic.Int32 // others that read in the worker's memories
	trail    trail
}

func newWorker(p *shared, id int) *worker {
	w := &worker{id: id, shared: p, base: mix(mix(p.seed) + uint64(id))}
	w.state = w.base
	w.cells = newSet[cell](w, "cell", 12, p.cells)
	w.sets = [3]shapeSet{newSet[thin](w, "thin", 24, p.thins), w.cells, newSet[wide](w, "wide", 4, p.wides)}
	for i := range w.arenas {
		w.arenas[i].open(&w.choices)
		w.bumps[i] = new(bump.Arena)
	}
	w.table = slab.NewTable[row]()
	w.root = p.root.Child("stress-server")
	return w
}

// run is the life of the worker. It ends after quota operations, or when something
// was found.
func (w *worker) run(quota int64) {
	defer func() {
		w.report()
		if p := recover(); p != nil {
			w.shared.found(w.finding(p))
		}
	}()
	for w.ops < quota && !w.shared.stop.Load() {
		w.step()
		if w.steps%64 == 0 {
			w.report()
		}
	}
	w.end()
}

// report adds the operations since the last time to those of the run.
func (w *worker) report() {
	w.shared.ops.Add(w.ops - w.reported)
	w.reported = w.ops
}

func (w *worker) step() {
	w.state = mix(w.base + w.steps*stride)
	w.steps++
	if w.shared.hook != nil {
		w.shared.hook(w)
	}
	switch k := w.below(256); {
	case k < 120:
		w.sets[k%3].step()
	case k < 160:
		w.stepBlock()
	case k < 163:
		w.stepArena()
	case k < 180:
		w.stepRaw()
	case k < 182:
		w.stepBump()
	case k < 210:
		w.stepTable()
	case k < 225:
		w.stepBuffer()
	case k < 241:
		w.stepContext()
	case k < 248:
		w.stepParcel()
	case k < 251:
		w.takeLease()
	case k < 253:
		w.serve()
	case k < 255:
		w.promote(&w.cells.slots[w.below(len(w.cells.slots))])
	case w.oneIn(16):
		w.sets[w.below(len(w.sets))].shake()
	case w.oneIn(64):
		w.note("inspect", "program", 0, inHeap, 0)
		w.shared.inspect()
	}
}

// end gives everything back.
func (w *worker) end() {
	w.note("end", "worker", w.id, inHeap, 0)
	for _, s := range w.sets {
		s.end()
	}
	for i := range w.arenas {
		w.evictBlocks(inArena+home(i), 0)
	}
	for i := range w.bumps {
		w.evictRaws(i)
	}
	w.endTable()
	w.endBuffers()
	w.endParcels()
	w.endContexts()
	w.settle()
}

// evict ends what is in a memory that is about to be used again.
func (w *worker) evict(h home, level int) {
	for _, s := range w.sets {
		s.evict(h, level)
	}
	w.evictBlocks(h, level)
}

// leave is for a memory that was left to the garbage collector: what is in it stays.
func (w *worker) leave(h home) {
	for _, s := range w.sets {
		s.leave(h)
	}
	w.leaveBlocks(h)
}

// adopt takes a chain whose memory was left to the garbage collector, if there is a
// place for it.
func (w *worker) adopt(c *chain[cell]) {
	if c.head == nil {
		return
	}
	c.home = inHeap
	w.adoptFrom(c)
}

func (w *worker) adoptFrom(c *chain[cell]) {
	for i := range w.cells.slots {
		if s := &w.cells.slots[i]; s.head == nil {
			*s, *c = *c, chain[cell]{}
			return
		}
	}
	w.cells.shrink(c, c.n)
}

// A loan is permission to read in the memories of another worker.
type loan struct {
	owner *worker
	read  func() (values int)
}

func (w *worker) lend(read func() int) {
	w.loans.Add(1)
	select {
	case w.shared.loans <- loan{w, read}:
	default:
		w.loans.Add(-1)
	}
}

// serve reads what somebody lent.
func (w *worker) serve() bool {
	select {
	case l := <-w.shared.loans:
		w.ops += int64(l.read())
		l.owner.loans.Add(-1)
		return true
	default:
		return false
	}
}

// settle waits until nobody reads in the worker's memories.
func (w *worker) settle() {
	for w.loans.Load() > 0 {
		if w.shared.broken.Load() {
			panic(stopped{}) // the reader may have ended with the loan
		}
		if !w.serve() {
			runtime.Gosched()
		}
	}
}

// stopped ends a worker because another one found something.
type stopped struct{}

// A trail remembers the last steps.
type trail struct {
	n    int
	last [20]record
}

// A record is what a step did to which thing of a kind, in which memory, and with
// how many cells.
type record struct {
	step  uint64
	op    string
	kind  string
	which int
	in    home
	n     int
}

func (w *worker) note(op, kind string, which int, in home, n int) {
	w.trail.last[w.trail.n%len(w.trail.last)] = record{w.steps, op, kind, which, in, n}
	w.trail.n++
}

func (t *trail) lines() []string {
	var list []string
	for i := max(0, t.n-len(t.last)); i < t.n; i++ {
		r := &t.last[i%len(t.last)]
		list = append(list, strings.Join(strings.Fields(fmt.Sprintf("step %d: %s %s %d in %s, n %d", r.step, r.op, r.kind, r.which, r.in, r.n)), " "))
	}
	return list
}

// finding describes a panic, nil for a worker that only stopped.
func (w *worker) finding(p any) *Finding {
	f := &Finding{Goroutine: w.id, Step: w.steps, Steps: w.trail.lines()}
	switch p := p.(type) {
	case stopped:
		return nil
	case failure:
		f.What = p.what
	default:
		f.What = fmt.Sprintf("panic: %v", p)
		f.Output = string(debug.Stack())
	}
	return f
}
