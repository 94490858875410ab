package stress

import (
	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// A block is a slice that grows, or a text. One of the fields has it.
type block struct {
	words []uint64
	list  []*stamp // each of which nothing else refers to
	text  string
	seed  uint64
	home  home
	level int
}

// blockHomes are those in which a block can be.
var blockHomes = []home{inHeap, inArena, inArena2, inBump, inBump2}

// maxBlock is what a block may have grown to, in elements.
const maxBlock = 600

func (b *block) verify() (n int) {
	what := func() string { return "block in " + b.home.String() }
	mustBeContent(b.words, b.seed, what)
	for i, s := range b.list {
		if want := mix(b.seed + uint64(i)); s == nil || s.self != s || s.seed != want {
			fail("%s: stamp %d of %d at %p is %+v, want seed %#x", what(), i, len(b.list), b.list, s, want)
		}
	}
	for i := range len(b.text) {
		if want := letter(b.seed, i); b.text[i] != want {
			fail("%s: byte %d of a text of %d is %#x, want %#x", what(), i, len(b.text), b.text[i], want)
		}
	}
	return 1
}

func letter(seed uint64, i int) byte { return byte(seed>>(i&7*8)) + byte(i>>3) }

// appendLetters makes a text longer.
func appendLetters(text []byte, seed uint64, n int) []byte {
	for i := range n {
		text = append(text, letter(seed, i))
	}
	return text
}

// stepBlock does something with one of the blocks.
func (w *worker) stepBlock() {
	i := w.below(len(w.blocks))
	b := &w.blocks[i]
	if b.words == nil && b.list == nil && b.text == "" {
		w.makeBlock(i, b)
		return
	}
	switch k := w.below(8); {
	case k < 2:
		w.note("verify", "block", i, b.home, 0)
		w.ops += int64(b.verify())
	case k < 6:
		w.growBlock(i, b)
	case k < 7:
		w.note("lend", "block", i, b.home, 0)
		if b.home.lends() {
			lent := *b
			w.lend(func() int { return lent.verify() })
		}
	default:
		w.note("drop", "block", i, b.home, 0)
		w.ops += int64(b.verify())
		*b = block{}
	}
}

// arenaOf returns the arena that stands for h, which is nil for Go's heap.
func (w *worker) arenaOf(h home) *arena.Arena {
	if h.typed() {
		return w.arenas[h-inArena].a
	}
	return nil
}

func (w *worker) makeBlock(i int, b *block) {
	h := blockHomes[w.below(len(blockHomes))]
	n := 1 + w.below(40)
	if w.oneIn(100) {
		n = 1 + w.below(5000)
	}
	w.note("make", "block", i, h, n)
	if h.typed() && w.arenas[h-inArena].limited {
		words, err := arena.TryMakeSlice[uint64](w.arenaOf(h), n, n)
		if err != nil {
			mustBeLimit(err)
			return
		}
		*b = block{words: words, seed: w.next(), home: h, level: w.level(h)}
		mustBeZero(words, func() string { return "block in " + h.String() })
		fill(words, b.seed)
		w.ops++
		return
	}
	*b = block{seed: w.next(), home: h, level: w.level(h)}
	what := func() string { return "block in " + h.String() }
	kind := w.below(4)
	if kind == 3 && h.untyped() {
		kind = 0 // a list refers to Go's heap
	}
	switch kind {
	case 0, 1:
		room := n + w.below(n+1)
		if h.untyped() {
			b.words = bump.MakeSlice[uint64](w.bumps[h-inBump], n, room)
		} else {
			b.words = arena.MakeSlice[uint64](w.arenaOf(h), n, room)
		}
		mustBeZero(b.words[:cap(b.words)], what)
		fill(b.words, b.seed)
	case 2:
		w.text = appendLetters(w.text[:0], b.seed, n)
		if h.untyped() {
			b.text = bump.String(w.bumps[h-inBump], w.text)
		} else {
			b.text = arena.String(w.arenaOf(h), w.text)
		}
	default:
		w.appendStamps(b, n%32+1)
	}
	w.ops++
}

func (w *worker) appendStamps(b *block, n int) {
	for range n {
		s := w.stamp(inHeap, mix(b.seed+uint64(len(b.list))))
		b.list = arena.Push(w.arenaOf(b.home), b.list, s)
	}
	if b.home == inHeap {
		return // the built-in append does not promise what is behind
	}
	for i, s := range b.list[len(b.list):cap(b.list)] {
		if s != nil {
			fail("block in %s: pointer %d behind a list of %d is %p, want nil", b.home, i, len(b.list), s)
		}
	}
}

func (w *worker) growBlock(i int, b *block) {
	n := 1 + w.below(30)
	w.note("append", "block", i, b.home, n)
	if len(b.words)+len(b.list) > maxBlock || b.text != "" {
		return
	}
	if b.home.typed() && w.arenas[b.home-inArena].limited {
		return // Append has no form that returns an error
	}
	b.level = w.level(b.home)
	switch {
	case b.list != nil:
		w.appendStamps(b, n)
	case w.oneIn(4):
		w.moveBlock(i, b, n)
	default:
		b.words = w.appendTo(b.home, b, n)
	}
	w.ops++
	w.ops += int64(b.verify())
}

// appendTo returns a block's words with n more, as a slice in h.
func (w *worker) appendTo(h home, b *block, n int) []uint64 {
	more := w.scratch[:n]
	fill(more, b.seed+uint64(len(b.words))*stride)
	if h.untyped() {
		return bump.Append(w.bumps[h-inBump], b.words, more...)
	}
	return arena.Append(w.arenaOf(h), b.words, more...)
}

// moveBlock appends to a block in another arena, which has to leave the old slice
// alone, and what is behind it. The built-in append, which stands for Go's heap, would
// write there.
func (w *worker) moveBlock(i int, b *block, n int) {
	to := blockHomes[w.below(len(blockHomes))]
	if to == b.home || to == inHeap || to.typed() && w.arenas[to-inArena].limited {
		return
	}
	w.note("move to "+to.String(), "block", i, b.home, n)
	old := *b
	b.words = w.appendTo(to, b, n)
	b.home, b.level = to, w.level(to)
	old.verify()
	if old.home != inHeap {
		mustBeZero(old.words[len(old.words):cap(old.words)], func() string { return "what is behind a block in " + old.home.String() })
	}
}

// evictBlocks ends the blocks in h whose memory is of a mark's level or above.
func (w *worker) evictBlocks(h home, level int) {
	for i := range w.blocks {
		b := &w.blocks[i]
		if b.home != h || b.level < level {
			continue
		}
		w.ops += int64(b.verify())
		if b.words != nil && w.oneIn(4) {
			*b = block{words: arena.Clone(b.words), seed: b.seed}
			w.ops++
			continue
		}
		*b = block{}
	}
}

// leaveBlocks is what leave is to a set.
func (w *worker) leaveBlocks(h home) {
	for i := range w.blocks {
		if b := &w.blocks[i]; b.home == h {
			b.home, b.level = inHeap, 0
		}
	}
}
