package main

// A list hands out values from chunks, and all of them again after a reset: what many
// programs have for a type of their own.
type list[T any] struct {
	chunks [][]T
	open   []T // what is left of the chunk in use
	next   int // the chunk that follows
}

const chunkLen = 256

func (l *list[T]) new() *T { return &l.take(1)[0] }

// take returns n values beside each other, all zero.
func (l *list[T]) take(n int) []T {
	if len(l.open) < n {
		if l.next == len(l.chunks) {
			l.chunks = append(l.chunks, make([]T, chunkLen))
		}
		l.open = l.chunks[l.next]
		l.next++
	}
	v := l.open[:n:n]
	l.open = l.open[n:]
	return v
}

// grow returns s with room for one more value.
func (l *list[T]) grow(s []T) []T {
	if len(s) < cap(s) {
		return s
	}
	to := l.take(max(1, 2*cap(s)))
	return to[:copy(to, s)]
}

func (l *list[T]) reset() {
	for _, c := range l.chunks[:l.next] {
		clear(c)
	}
	l.open, l.next = nil, 0
}

type chunks struct {
	texts    list[text]
	attrs    list[attr]
	elements list[element]
	children list[object]
}

func (k *chunks) document(n int) object {
	var up object
	for i := range n {
		switch i % 3 {
		case 0:
			o := k.texts.new()
			o.s = word(i)
			o.up, o.n, up = up, i, o
		case 1:
			o := k.attrs.new()
			o.key, o.value, o.bits = word(i), word(i+1), uint64(i)
			o.up, o.n, up = up, i, o
		default:
			o := k.elements.new()
			o.name = word(i)
			for c := up; c != nil && len(o.children) < fanout; c = c.header().up {
				o.children = append(k.children.grow(o.children), c)
			}
			o.up, o.n, up = up, i, o
		}
	}
	return up
}

func (k *chunks) end() {
	k.texts.reset()
	k.attrs.reset()
	k.elements.reset()
	k.children.reset()
}
