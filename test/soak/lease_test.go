package soak_test

import (
	"math/rand/v2"

	"github.com/haven-mem/haven/memctx"
)

// A task is what goes from one goroutine to the next: each time it does some of
// its work, until it is done. The last time it has to come to its end.
type task interface {
	visit(w *worker, last bool) (done bool)
}

// A loan is a lease of somebody who reads what was in the context at the time of
// the loan.
type loan struct {
	*soak
	rng    *rand.Rand
	n      *twin // of which only what never changes is looked at
	values []value
	links  []link   // none, unless pinned
	chain  []*usage // of the context and those above
	pinned bool
	maker  bool
	give   func() // the lease back
	visits int
}

// chain lists the usage of n and of all above it, in the trees of others as well.
func (a *actor) chain(n *twin) []*usage {
	var list []*usage
	for ; n != nil; n = n.parent {
		list = append(list, n.usage)
	}
	return append(list, a.above...)
}

func (l *loan) take() {
	for _, u := range l.chain {
		u.leases.Add(1)
		if l.pinned {
			u.pinned.Add(1)
		}
	}
	if l.maker {
		l.chain[0].makers.Add(1)
	}
}

func (l *loan) giveBack() {
	try(l.give)
	if l.maker {
		l.chain[0].makers.Add(-1)
	}
	for _, u := range l.chain {
		if l.pinned {
			u.pinned.Add(-1)
		}
		u.leases.Add(-1)
	}
}

// lend takes a lease and has others read the context's values.
func (a *actor) lend(n *twin) {
	l := &loan{
		soak: a.soak, rng: newRand(a.rng), n: n, chain: a.chain(n),
		values: n.values[:len(n.values):len(n.values)],
		pinned: a.rng.IntN(2) == 0, maker: a.rng.IntN(4) == 0, visits: 1 + a.rng.IntN(12),
	}
	if l.pinned {
		l.links = n.links[:len(n.links):len(n.links)]
	}
	l.give = n.mc.Retain()
	l.take()
	a.w.put(l)
}

func (l *loan) visit(w *worker, last bool) bool {
	for range 1 + l.rng.IntN(8) {
		l.verifyValues(l.rng, l.n, l.values, l.links, false)
	}
	if l.maker {
		l.makeOne()
	}
	if l.rng.IntN(8) == 0 {
		l.n.mc.Stats()
		l.n.mc.Walk(func(*memctx.Context, int) bool { return true })
	}
	if !last && l.rng.IntN(8) == 0 {
		more := *l
		more.rng = newRand(l.rng)
		more.visits /= 2
		more.give = l.n.mc.Retain()
		more.take()
		w.put(&more)
	}
	if l.visits--; l.visits > 0 && !last {
		return false
	}
	l.verifyValues(l.rng, l.n, l.values, l.links, true)
	l.giveBack()
	return true
}

// makeOne makes a context below, which may be deleted already, while its owner is
// at work.
func (l *loan) makeOne() {
	n := l.newTwin(l.rng)
	n.mc = l.n.mc.Child(n.name)
	release := retain(n.mc)
	if release == nil {
		l.count(evTooLate)
		return
	}
	for range l.rng.IntN(8) {
		l.add(l.rng, n, nil)
	}
	l.hook(l.rng, n)
	l.verify(l.rng, n, true)
	try(n.mc.Delete)
	try(release)
}

// newRand returns a source of choices that follow from those of another.
func newRand(rng *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64())) }
