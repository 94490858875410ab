package stress

import (
	"github.com/haven-mem/haven/arena"
)

// A parcel is an arena of the shared arena.Pool, with what is in it, that goes from
// one goroutine to another as a whole.
type parcel struct {
	a     *arena.Arena
	chain chain[cell]
	block block
}

func newArenaPool(rng *choices) *arena.Pool {
	if rng.oneIn(2) {
		return new(arena.Pool)
	}
	return arena.NewPool(arena.Config{FirstChunk: 64 << rng.below(8), Retain: rng.below(1<<18) - 1})
}

func (p *parcel) verify(w *worker) {
	if p.chain.head != nil {
		verify[cell](&p.chain)
	}
	w.ops += int64(p.chain.n + p.block.verify())
}

// stepParcel does something with one of the parcels.
func (w *worker) stepParcel() {
	i := w.below(len(w.parcels))
	p := &w.parcels[i]
	if p.a == nil {
		if w.oneIn(3) {
			select {
			case *p = <-w.shared.parcels:
				w.note("receive", "parcel", i, inParcel, p.chain.n)
				p.verify(w)
			default:
			}
			return
		}
		w.note("get", "parcel", i, inParcel, 0)
		p.a = w.shared.arenas.Get()
		p.block = block{seed: w.next(), home: inParcel}
		w.fillParcel(p)
		return
	}
	p.verify(w)
	switch w.below(8) {
	case 0, 1, 2:
		w.note("fill", "parcel", i, inParcel, p.chain.n)
		if p.chain.n < 200 {
			w.fillParcel(p)
		}
	case 3, 4:
		w.note("send", "parcel", i, inParcel, p.chain.n)
		select {
		case w.shared.parcels <- *p:
			*p = parcel{}
		default:
		}
	case 5:
		w.note("free", "parcel", i, inParcel, p.chain.n)
		p.a.Free()
		p.verify(w)
		w.adopt(&p.chain)
		*p = parcel{}
		w.ops++
	default:
		w.note("put", "parcel", i, inParcel, p.chain.n)
		p.put(w)
	}
}

func (w *worker) fillParcel(p *parcel) {
	w.growIn(p.a, &p.chain, inParcel, 1+w.below(20))
	more := w.scratch[:1+w.below(20)]
	fill(more, p.block.seed+uint64(len(p.block.words))*stride)
	p.block.words = arena.Append(p.a, p.block.words, more...)
	w.ops++
}

func (p *parcel) put(w *worker) {
	w.shared.arenas.Put(p.a)
	*p = parcel{}
	w.ops++
}

// endParcels puts all of them.
func (w *worker) endParcels() {
	for i := range w.parcels {
		if p := &w.parcels[i]; p.a != nil {
			p.verify(w)
			p.put(w)
		}
	}
}
