package arena

import (
	"iter"

	"github.com/haven-mem/haven/internal/addr"
)

// holds reports whether the bytes of one of texts lie in chunks that were used since
// the last Reset. It costs a few instructions for each text and chunk.
func (a *Arena) holds(texts []string) bool {
	for _, s := range texts {
		for l := a.listed; l != nil; l = l.nextListed {
			for base, n := range l.used() {
				if addr.Covers(base, uintptr(n*l.size), s) {
					return true
				}
			}
		}
	}
	return false
}

// used returns the chunks from which something was handed out since the last Reset, and
// at rest the one that is kept: where they begin, and how many elements they have.
func (l *lane) used() iter.Seq2[*byte, int] {
	return func(yield func(*byte, int) bool) {
		if l.n > 0 && !yield(l.base(), l.n) || l.others == nil {
			return
		}
		for _, s := range l.others.full {
			if !yield(s.base(), s.n) {
				return
			}
		}
		for _, b := range l.others.large {
			if !yield(b.base(), b.n) {
				return
			}
		}
	}
}

// base returns where a chunk begins.
func (b block) base() *byte { return addr.Memory(addr.Data(b.mem)) }
