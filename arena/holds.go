package arena

import "github.com/haven-mem/haven/internal/addr"

// holds reports whether the bytes of one of texts lie in chunks that were used since
// the last Reset. It costs a few instructions for each text and chunk.
func (a *Arena) holds(texts []string) bool {
	for _, s := range texts {
		for _, l := range a.listed {
			if l.holds(s) {
				return true
			}
		}
	}
	return false
}

func (l *Lane[T]) holds(s string) bool {
	if addr.Holds(l.buf, s) {
		return true
	}
	if l.rest == nil {
		return false
	}
	for _, span := range l.rest.full {
		if addr.Holds(span.buf, s) {
			return true
		}
	}
	for _, buf := range l.rest.large {
		if addr.Holds(buf, s) {
			return true
		}
	}
	return false
}

func (l *dynamicLane) holds(s string) bool {
	for _, c := range l.chunks {
		if addr.Covers(c.UnsafePointer(), uintptr(c.Len()*l.size), s) {
			return true
		}
	}
	return false
}
