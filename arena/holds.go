package arena

import (
	"iter"

	"github.com/haven-mem/haven/internal/addr"
)

// holds reports whether the bytes of one of texts lie in chunks that were used since
// the last Reset. It costs a few instructions for each text and chunk.
func (a *Arena) holds(texts []string) bool {
	for _, s := range texts {
		for _, l := range a.listed {
			for b := range l.used() {
				if addr.Covers(addr.Data(b.mem), uintptr(b.n*l.size), s) {
					return true
				}
			}
		}
	}
	return false
}

// used returns the chunks from which something was handed out since the last Reset, and
// at rest the one that is kept.
func (l *lane) used() iter.Seq[block] {
	return func(yield func(block) bool) {
		if l.open.n > 0 && !yield(l.open) || l.rest == nil {
			return
		}
		for _, s := range l.rest.full {
			if !yield(s.block) {
				return
			}
		}
		for _, b := range l.rest.large {
			if !yield(b) {
				return
			}
		}
	}
}
