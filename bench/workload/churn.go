package workload

// Workload churn keeps about 100,000 objects alive while it frees some and
// allocates others, at random: what a cache, a session table or a queue does to
// its allocator for as long as it runs.
//
// There are twice as many places as objects. A step picks a place, and frees the
// object there or allocates one for it. Seven of eight steps pick one of an
// eighth of the places, so that most objects that are freed are young, while
// others stay fifty times as long.
//
// Two goroutines have half of the places each. One in sixteen of the objects is
// freed by the other goroutine: they send each other slices of pointers. A send
// never waits; when the other is behind, the sender frees the objects itself.

func init() {
	Register(Workload{
		Name:  "churn",
		Doc:   "objects of 96 bytes freed and allocated at random while 100,000 are alive",
		Unit:  "step",
		Cases: churnCases,
	})
}

const (
	churnWorkers = 2
	churnLive    = 100_000
	churnSteps   = 500_000 // in a round, of each worker
	churnQuick   = 100_000
	churnBatch   = 64 // objects that are sent at a time
)

// churnObject takes 96 bytes on machines of 64 bits.
type churnObject struct {
	id     uint64
	owner  *churnOwner
	name   string
	tags   []string
	uses   int
	values [4]int
}

type churnOwner struct{ name string }

// These are what objects refer to.
var (
	churnOwners = [4]*churnOwner{{"one"}, {"two"}, {"three"}, {"four"}}
	churnNames  = [4]string{"session", "route", "quota", "lease"}
	churnTags   = []string{"a", "b", "c", "d", "e", "f", "g", "h"}
)

// fill sets the fields of an object, which has to be zero.
func (p *churnObject) fill(id uint64) {
	p.id += id
	p.owner = churnOwners[id&3]
	p.name = churnNames[id>>2&3]
	p.tags = churnTags[:id>>4&7]
	p.values[id&3] = int(id)
	p.uses++
}

// sum returns a checksum of the object. It is made to be added to others in any
// order, as it varies who frees an object first.
func (p *churnObject) sum() uint64 {
	h := p.id*0x9E3779B97F4A7C15 + uint64(p.uses) + uint64(len(p.owner.name)+len(p.name)+len(p.tags))
	return h ^ uint64(p.values[0]+p.values[1]+p.values[2]+p.values[3])
}

func churnCases(cfg Config) []Case {
	steps := churnSteps
	if cfg.Quick {
		steps = churnQuick
	}
	return []Case{{
		Variants: variantsOf([]string{heapNew, syncPool, slabCache}, map[string][]Target{
			slabCache: {
				notAbove(MetricGCCPU),
				{Metric: MetricRSS, Against: heapNew, Bound: AtMost, Value: 1.1},
			},
		}, func(name string) (Instance, error) {
			return newChurn(newSource[churnObject](name, churnLive), steps), nil
		}),
	}}
}

// A churnWorker is one of the goroutines, with its half of the places.
type churnWorker struct {
	source[churnObject]
	places []*churnObject
	state  uint64 // of the random numbers
	serial uint64 // number of the next object
	out    []*churnObject
	spare  [][]*churnObject
	inbox  chan []*churnObject
	other  *churnWorker
	sum    uint64 // of the objects freed in this round
	_      [128]byte
}

// churn is an instance of the workload.
type churn struct {
	task
	workers [churnWorkers]churnWorker
}

func newChurn(objects source[churnObject], steps int) *churn {
	in := &churn{}
	for i := range in.workers {
		w := &in.workers[i]
		w.source = objects
		w.places = make([]*churnObject, 2*churnLive/churnWorkers)
		w.state = uint64(i + 1)
		w.serial = uint64(i) << 32
		w.inbox = make(chan []*churnObject, 4)
		w.other = &in.workers[(i+1)%churnWorkers]
		for k := 0; k < len(w.places); k += 2 {
			w.places[k] = w.next()
		}
	}
	in.task = task{ops: int64(churnWorkers * steps), run: func(*Round) uint64 { return in.round(steps) }}
	return in
}

func (in *churn) round(steps int) (sum uint64) {
	together(churnWorkers, func(i int) uint64 {
		in.workers[i].run(steps)
		return 0
	})
	// What is under way is freed now, so that each round frees the same.
	for i := range in.workers {
		w := &in.workers[i]
		w.receive()
		w.freeAll(w.out)
		w.out = w.out[:0]
	}
	for i := range in.workers {
		sum += in.workers[i].sum
		in.workers[i].sum = 0
	}
	return sum
}

// next allocates an object.
func (w *churnWorker) next() *churnObject {
	p := w.alloc()
	p.fill(w.serial)
	w.serial++
	return p
}

func (w *churnWorker) run(steps int) {
	for range steps {
		w.state = w.state*6364136223846793005 + 1442695040888963407
		r := w.state >> 33
		among := uint64(len(w.places))
		if w.state>>30&7 != 0 {
			among /= 8
		}
		place := &w.places[r*among>>31]
		switch p := *place; {
		case p == nil:
			*place = w.next()
		case p.id&15 == 0:
			*place = nil
			w.send(p)
		default:
			*place = nil
			w.drop(p)
		}
	}
}

// drop frees an object.
func (w *churnWorker) drop(p *churnObject) {
	w.sum += p.sum()
	w.free(p)
}

func (w *churnWorker) freeAll(objects []*churnObject) {
	for i, p := range objects {
		w.drop(p)
		objects[i] = nil
	}
}

// send has the other worker free p, sooner or later, and frees what that one
// has sent.
func (w *churnWorker) send(p *churnObject) {
	w.out = append(w.out, p)
	if len(w.out) < churnBatch {
		return
	}
	select {
	case w.other.inbox <- w.out:
		w.out = nil
		if n := len(w.spare); n > 0 {
			w.out, w.spare = w.spare[n-1], w.spare[:n-1]
		}
	default:
		w.freeAll(w.out)
		w.out = w.out[:0]
	}
	w.receive()
}

// receive frees what the other worker has sent.
func (w *churnWorker) receive() {
	for {
		select {
		case objects := <-w.inbox:
			w.freeAll(objects)
			w.spare = append(w.spare, objects[:0])
		default:
			return
		}
	}
}
