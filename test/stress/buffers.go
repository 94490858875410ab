package stress

import (
	"encoding/binary"

	"github.com/haven-mem/haven/pool"
)

// A buffer is one of the shared pool.Bytes.
type buffer struct {
	p    *[]byte
	seed uint64
}

func newBytes(rng *choices) (b *pool.Bytes, dirty bool) {
	var conf pool.BytesConfig
	if rng.oneIn(2) {
		conf.MaxBytes = rng.below(1 << 20)
	}
	if dirty = rng.oneIn(4); dirty {
		conf.Dirty = true
	}
	return pool.NewBytes(conf), dirty
}

// fill writes over the whole capacity.
func (b *buffer) fill() {
	all, seed := (*b.p)[:cap(*b.p)], b.seed
	for ; len(all) >= 8; all = all[8:] {
		binary.LittleEndian.PutUint64(all, seed)
		seed += stride
	}
	for i := range all {
		all[i] = byte(seed) + byte(i)
	}
}

func (b *buffer) verify() {
	all, seed := (*b.p)[:cap(*b.p)], b.seed
	for ; len(all) >= 8; all = all[8:] {
		if have := binary.LittleEndian.Uint64(all); have != seed {
			fail("buffer of %d bytes: the word at %d is %#x, want %#x", cap(*b.p), cap(*b.p)-len(all), have, seed)
		}
		seed += stride
	}
	for i, have := range all {
		if want := byte(seed) + byte(i); have != want {
			fail("buffer of %d bytes: byte %d is %#x, want %#x", cap(*b.p), cap(*b.p)-len(all)+i, have, want)
		}
	}
}

// stepBuffer does something with one of the buffers.
func (w *worker) stepBuffer() {
	i := w.below(len(w.buffers))
	b := &w.buffers[i]
	if b.p == nil {
		if w.oneIn(4) {
			select {
			case *b = <-w.shared.buffers:
				w.note("receive", "buffer", i, inPool, len(*b.p))
				b.verify()
				w.ops++
			default:
			}
			return
		}
		n := w.below(1 << w.below(11))
		if w.oneIn(200) {
			n = w.below(1 << 17)
		}
		w.note("get", "buffer", i, inPool, n)
		*b = buffer{w.shared.bytes.Get(n), w.next()}
		if b.p == nil || len(*b.p) != n {
			fail("Get(%d) of a Bytes returned %v", n, b.p)
		}
		if !w.shared.dirty {
			for j, c := range (*b.p)[:cap(*b.p)] {
				if c != 0 {
					fail("byte %d of a new buffer of %d is %#x, want 0", j, cap(*b.p), c)
				}
			}
		}
		b.fill()
		w.ops++
		return
	}
	b.verify()
	w.ops++
	switch w.below(4) {
	case 0:
		w.note("send", "buffer", i, inPool, len(*b.p))
		select {
		case w.shared.buffers <- *b:
			*b = buffer{}
		default:
		}
	case 1:
		w.note("verify", "buffer", i, inPool, len(*b.p))
	default:
		w.note("put", "buffer", i, inPool, len(*b.p))
		b.put(w)
	}
}

func (b *buffer) put(w *worker) {
	w.shared.bytes.Put(b.p)
	*b = buffer{}
	w.ops++
}

// endBuffers puts all of them.
func (w *worker) endBuffers() {
	for i := range w.buffers {
		if b := &w.buffers[i]; b.p != nil {
			b.verify()
			b.put(w)
		}
	}
}
