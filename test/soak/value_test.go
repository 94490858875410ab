package soak_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/haven-mem/haven/arena"
)

// A cell is a value with pointers into its own context, into one above, and to
// Go's heap.
type cell struct {
	self, next, up *cell
	stamp          *stamp
	seed           uint64
	words          [3]uint64
}

// A stamp is an object of Go's heap, to which nothing refers but a cell.
type stamp struct {
	self *stamp
	seed uint64
}

// A pair is a value without pointers.
type pair struct{ seed, mixed uint64 }

// A value is something written into a context, and what must be read there. Its
// words follow from the seed.
type value struct {
	seed  uint64
	cell  *cell
	next  *cell // what the cell refers to in its own context
	pair  *pair
	words []uint64
	text  string
	list  []*cell
	want  []*cell // what the list holds
}

// A link is a cell that refers to one of a context above.
type link struct {
	from, to *cell
	seed     uint64 // of to
}

// mix is the finalizer of splitmix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// letters is the text of a seed, n bytes long.
func letters(seed uint64, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte('a' + byte(mix(seed+uint64(i/8))>>(8*(i%8)))%26)
	}
	return b.String()
}

// write puts a value into the arena. Where over is not nil, a cell may refer to
// it; where others are cells of the same context, to those. It returns what a
// limit had to say, and an error if the memory was not as it must be.
func write(rng *rand.Rand, a *arena.Arena, others []*cell, over *cell) (v value, full *arena.LimitError, err error) {
	v.seed = rng.Uint64()
	way, large := rng.IntN(16), rng.IntN(64) == 0
	defer func() {
		// Half of the sites below panic at a limit, and half return it.
		if p := recover(); p != nil {
			e, _ := p.(error)
			if !errors.As(e, &full) {
				panic(p)
			}
		} else if errors.As(err, &full) {
			err = nil
		}
	}()
	switch {
	case way < 6:
		var c *cell
		if way < 3 {
			c = arena.New[cell](a)
		} else if c, err = arena.TryNew[cell](a); err != nil {
			return v, nil, err
		}
		if *c != (cell{}) {
			return v, nil, fmt.Errorf("a new cell at %p is not zero: %+v", c, *c)
		}
		v.cell = c
		if len(others) > 0 {
			v.next = others[rng.IntN(len(others))]
		}
		s := &stamp{seed: v.seed}
		s.self = s
		*c = cell{self: c, next: v.next, up: over, stamp: s, seed: v.seed}
		for i := range c.words {
			c.words[i] = mix(v.seed + uint64(i))
		}
	case way < 8:
		p := arena.LaneOf[pair](a).New()
		if *p != (pair{}) {
			return v, nil, fmt.Errorf("a new pair at %p is not zero: %+v", p, *p)
		}
		*p = pair{v.seed, mix(v.seed)}
		v.pair = p
	case way < 12:
		n := 1 + rng.IntN(48)
		if large {
			n = 1 + rng.IntN(4096)
		}
		var s []uint64
		if way < 10 {
			s = arena.MakeSlice[uint64](a, n, n)
		} else if s, err = arena.TryMakeSlice[uint64](a, n, n); err != nil {
			return v, nil, err
		}
		for i, w := range s {
			if w != 0 {
				return v, nil, fmt.Errorf("word %d of %d of a new slice at %p is %#x, want 0", i, n, s, w)
			}
			s[i] = mix(v.seed + uint64(i))
		}
		v.words = s
	case way < 14:
		v.text = arena.String(a, letters(v.seed, 1+rng.IntN(60)))
	default:
		for range rng.IntN(20) {
			if len(others) > 0 {
				c := others[rng.IntN(len(others))]
				v.list = arena.Push(a, v.list, c)
				v.want = append(v.want, c)
			}
		}
		for i, c := range v.list[len(v.list):cap(v.list)] {
			if c != nil {
				return v, nil, fmt.Errorf("pointer %d behind a new list of %d at %p is %p, want nil", i, len(v.list), v.list, c)
			}
		}
	}
	return v, nil, nil
}

// verify reads the value where it was written.
func (v *value) verify() error {
	switch {
	case v.cell != nil:
		return v.cell.verify(v.seed, v.next)
	case v.pair != nil:
		if *v.pair != (pair{v.seed, mix(v.seed)}) {
			return fmt.Errorf("the pair at %p is %+v, want seed %#x", v.pair, *v.pair, v.seed)
		}
	case v.words != nil:
		for i, w := range v.words {
			if want := mix(v.seed + uint64(i)); w != want {
				return fmt.Errorf("word %d of %d at %p is %#x, want %#x", i, len(v.words), v.words, w, want)
			}
		}
	case v.text != "":
		if want := letters(v.seed, len(v.text)); v.text != want {
			return fmt.Errorf("a text is %q, want %q", v.text, want)
		}
	case !slices.Equal(v.list, v.want):
		return fmt.Errorf("the list at %p is %v, want %v", v.list, v.list, v.want)
	}
	return nil
}

func (c *cell) verify(seed uint64, next *cell) error {
	if c.self != c || c.seed != seed || c.next != next {
		return fmt.Errorf("the cell at %p has self %p, seed %#x and next %p, want seed %#x and next %p", c, c.self, c.seed, c.next, seed, next)
	}
	for i, w := range c.words {
		if want := mix(seed + uint64(i)); w != want {
			return fmt.Errorf("word %d of the cell at %p is %#x, want %#x", i, c, w, want)
		}
	}
	if s := c.stamp; s == nil || s.self != s || s.seed != seed {
		return fmt.Errorf("the cell at %p has stamp %+v, want seed %#x", c, s, seed)
	}
	return nil
}

// verify follows the pointer to the context above.
func (l *link) verify() error {
	if l.from.up != l.to {
		return fmt.Errorf("the cell at %p refers to %p above, want %p", l.from, l.from.up, l.to)
	}
	if l.to.self != l.to || l.to.seed != l.seed {
		return fmt.Errorf("the cell at %p refers to a cell at %p above with self %p and seed %#x, want seed %#x", l.from, l.to, l.to.self, l.to.seed, l.seed)
	}
	return nil
}
