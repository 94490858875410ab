package soak_test

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// names are those of the contexts, few, so that memory goes from one to another
// all the time.
var names = []string{"soak-conn", "soak-request", "soak-query", "soak-batch"}

// An actor uses a tree of contexts, and knows what is in it. It is with one
// goroutine at a time.
//
// There are three kinds. The first has a tree below the server. The second was
// given a context with a lease, which somebody else may delete at any time, and
// takes a lease for each context that it makes. The third was given a context
// without a lease, which somebody else may abandon at any time.
type actor struct {
	*soak
	w     *worker
	rng   *rand.Rand
	level int // of actors that were given their tree by another
	top   *twin
	free  []*twin // the nodes that were not handed to another actor

	above  []*usage  // of what is above top, in the trees of others
	given  *handover // of an actor of the second or third kind
	leased bool      // of the second kind

	zombies []*zombie
	trail   trail
}

// An op is something an actor does with one of its nodes.
type op struct {
	name   string
	weight int
	do     func(*actor, *twin)
}

// opTable is filled by init, since what is done leads back to it.
var (
	opTable   []op
	opWeights int
)

func init() {
	opTable = []op{
		{"write", 40, (*actor).write},
		{"verify", 16, func(a *actor, n *twin) { a.verify(a.rng, n, a.rng.IntN(8) == 0) }},
		{"child", 14, (*actor).child},
		{"callback", 8, func(a *actor, n *twin) { a.hook(a.rng, n) }},
		{"reset", 3, (*actor).reset},
		{"reset children", 4, (*actor).resetChildren},
		{"delete", 4, (*actor).delete},
		{"move", 4, (*actor).move},
		{"lend", 5, (*actor).lend},
		{"hand over with a lease", 2, func(a *actor, n *twin) { a.handOver(n, true) }},
		{"hand over without", 3, func(a *actor, n *twin) { a.handOver(n, false) }},
		{"end what was handed over", 2, func(a *actor, n *twin) { a.callOff(a.top) }},
		{"abandon", 1, (*actor).abandon},
		{"visit the abandoned", 3, (*actor).visitZombie},
		{"give away", 1, (*actor).giveAway},
		{"drop a root", 1, (*actor).dropRoot},
		{"inspect", 5, (*actor).inspect},
	}
	for _, o := range opTable {
		opWeights += o.weight
	}
}

// step does something.
func (a *actor) step() {
	a.collect()
	if a.top == nil && !a.open() {
		return
	}
	n := a.free[a.rng.IntN(len(a.free))]
	at := a.rng.IntN(opWeights)
	for i, o := range opTable {
		if at -= o.weight; at < 0 {
			a.trail.add(i, n.id)
			a.counts[i].Add(1)
			o.do(a, n)
			return
		}
	}
}

// settings draws those of a new context.
func (a *actor) settings(n *twin) memctx.Config {
	conf := memctx.Config{Ident: strconv.FormatUint(n.id, 10)}
	if a.rng.IntN(4) == 0 {
		n.limit = 8192 << a.rng.IntN(8)
		conf.Limit = n.limit
	}
	if a.rng.IntN(6) == 0 {
		n.reserve = 1024 << a.rng.IntN(5)
		if n.limit > 0 {
			n.reserve = min(n.reserve, n.limit)
		}
		conf.Reserve = n.reserve
	}
	if a.rng.IntN(16) == 0 {
		conf.MaxAge = 1
	}
	return conf
}

// open makes the tree of an actor of the first kind.
func (a *actor) open() bool {
	n := a.newTwin(a.rng)
	mc, err := a.server.TryChild(n.name, a.settings(n))
	if err != nil {
		a.mustBeLimit(err)
		return false
	}
	n.mc = mc
	a.top, a.free = n, []*twin{n}
	return true
}

func (a *actor) mustBeLimit(err error) {
	if e := (*arena.LimitError)(nil); !errors.As(err, &e) {
		a.fail("%v, want a LimitError", err)
	}
	a.count(evRefusals)
}

// The most that a tree has, in contexts, levels, and values of a context.
const (
	maxTree   = 24
	maxDepth  = 8
	maxValues = 200
)

func (a *actor) child(p *twin) {
	if n := a.make(p); n != nil {
		n.join(p)
		a.free = append(a.free, n)
	}
}

// make returns a new context below p that is not in the model's tree yet, or nil
// if there is no room.
func (a *actor) make(p *twin) *twin {
	depth := 0
	for q := p; q != nil; q = q.parent {
		depth++
	}
	if len(a.free) >= maxTree || depth >= maxDepth {
		return nil
	}
	n := a.newTwin(a.rng)
	mc, err := p.mc.TryChild(n.name, a.settings(n))
	if err != nil {
		a.mustBeLimit(err)
		return nil
	}
	n.mc = mc
	if a.leased {
		if n.lease = retain(mc); n.lease == nil {
			// Whoever ends what is above came in between.
			a.count(evTooLate)
			return nil
		}
	}
	return n
}

// retain takes a lease, or returns nil if the context was deleted.
func retain(mc *memctx.Context) (release func()) {
	defer func() {
		if p := recover(); p != nil {
			if text, _ := p.(string); !strings.Contains(text, "deleted context") {
				panic(p)
			}
		}
	}()
	return mc.Retain()
}

func (a *actor) write(n *twin) {
	for range 1 + a.rng.IntN(6) {
		if len(n.values) >= maxValues || !a.add(a.rng, n, a.target(n)) {
			return
		}
	}
}

// target returns a cell of a context above n, or nil.
func (a *actor) target(n *twin) *cell {
	if a.rng.IntN(4) == 0 {
		return a.stock[a.rng.IntN(len(a.stock))].cell
	}
	for range a.rng.IntN(4) {
		if n.parent != nil {
			n = n.parent
		}
	}
	if len(n.cells) == 0 {
		return nil
	}
	return n.cells[a.rng.IntN(len(n.cells))]
}

// dropRoot leaves a root to the garbage collector.
func (a *actor) dropRoot(*twin) {
	n := a.newTwin(a.rng)
	n.mc = memctx.New(n.name)
	a.add(a.rng, n, nil)
	a.add(a.rng, n, nil)
	a.verify(a.rng, n, true)
	a.dropped.Add(1)
}

// A trail remembers what an actor did last.
type trail struct {
	n  int
	at [32]struct {
		op int
		id uint64
	}
}

func (t *trail) add(op int, id uint64) {
	x := &t.at[t.n%len(t.at)]
	x.op, x.id = op, id
	t.n++
}

// String lists what was done, the last in the end.
func (t *trail) String() string {
	var b []byte
	for i := max(0, t.n-len(t.at)); i < t.n; i++ {
		x := &t.at[i%len(t.at)]
		b = append(b, opTable[x.op].name...)
		b = append(b, " of "...)
		b = strconv.AppendUint(b, x.id, 10)
		b = append(b, ", "...)
	}
	return string(b)
}
