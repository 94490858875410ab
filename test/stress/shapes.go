package stress

import "fmt"

// A stamp is an object that one cell refers to, and nothing else: it lives if the
// garbage collector sees the cell.
type stamp struct {
	seed uint64
	self *stamp
}

// A shape is the type of the cells of a chain.
type shape[T any] interface {
	*T
	link() **T     // to the next cell
	held() **stamp // nil: there is no place for one
	body() []uint64
}

// The shapes: as small as a link can be; one line of the processor's cache; and one
// large enough to have a header, with its pointers at the end, beside which a slot of
// the next size is used in part.
type (
	thin struct {
		next  *thin
		words [1]uint64
	}
	cell struct {
		next  *cell
		stamp *stamp
		words [6]uint64
	}
	wide struct {
		words [70]uint64
		stamp *stamp
		next  *wide
	}
)

func (c *thin) link() **thin   { return &c.next }
func (c *thin) held() **stamp  { return nil }
func (c *thin) body() []uint64 { return c.words[:] }

func (c *cell) link() **cell   { return &c.next }
func (c *cell) held() **stamp  { return &c.stamp }
func (c *cell) body() []uint64 { return c.words[:] }

func (c *wide) link() **wide   { return &c.next }
func (c *wide) held() **stamp  { return &c.stamp }
func (c *wide) body() []uint64 { return c.words[:] }

// stride is what the words of a content differ by.
const stride = 0x9fb21c651e98df25

// fill writes the content that follows from a seed.
func fill(words []uint64, seed uint64) {
	for i := range words {
		words[i] = seed
		seed += stride
	}
}

// differs returns the first word that is not of the content of a seed, or -1.
func differs(words []uint64, seed uint64) int {
	for i, w := range words {
		if w != seed {
			return i
		}
		seed += stride
	}
	return -1
}

// dirty returns the first word that is not zero, or -1.
func dirty(words []uint64) int {
	for i, w := range words {
		if w != 0 {
			return i
		}
	}
	return -1
}

// stamped reports whether a cell of this seed refers to a stamp.
func stamped(seed uint64) bool { return seed&3 == 0 }

// mustBeContent fails if words have not the content of a seed. It is told what the
// words are by a function, since nobody wants to know as a rule.
func mustBeContent(words []uint64, seed uint64, what func() string) {
	if i := differs(words, seed); i >= 0 {
		fail("%s: word %d of %d at %p is %#x, want %#x", what(), i, len(words), words, words[i], seed+uint64(i)*stride)
	}
}

// mustBeZero fails if new memory is not.
func mustBeZero(words []uint64, what func() string) {
	if i := dirty(words); i >= 0 {
		fail("%s: word %d of %d of new memory at %p is %#x, want 0", what(), i, len(words), words, words[i])
	}
}

// mustBeStamp fails if a cell does not refer to what it should.
func mustBeStamp(s *stamp, seed uint64, what func() string) {
	switch {
	case !stamped(seed):
		if s != nil {
			fail("%s: refers to a stamp at %p, want none", what(), s)
		}
	case s == nil:
		fail("%s: refers to no stamp", what())
	case s.self != s || s.seed != seed:
		fail("%s: the stamp at %p has seed %#x and self %p, want seed %#x", what(), s, s.seed, s.self, seed)
	}
}

// A failure is what a check found, as the value of a panic.
type failure struct{ what string }

func fail(format string, args ...any) { panic(failure{fmt.Sprintf(format, args...)}) }
