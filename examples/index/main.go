// Index builds an inverted index, which word is in which line, in a bump arena:
// a hash table, its entries, their lists and all text. It points to nothing but
// itself, so the garbage collector has one word to look at for each chunk,
// however many words the index has.
package main

import (
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/haven-mem/haven/bump"
)

// An entry is a word with the lines it is in.
type entry struct {
	word  string // in the arena, like everything an entry points to
	lines []int32
	next  *entry // in the same bucket
}

// An Index finds lines by word. It is itself on the heap and holds one pointer
// into the arena, which keeps all of it alive.
type Index struct {
	buckets []*entry
	seed    maphash.Seed
}

// build indexes the lines of text. The arena goes out of scope here; its memory
// stays for as long as the Index points into it.
func build(text string) (*Index, bump.Stats) {
	var a bump.Arena
	x := &Index{bump.MakeSlice[*entry](&a, 64, 64), maphash.MakeSeed()}
	for i, line := range strings.Split(text, "\n") {
		for _, word := range strings.Fields(line) {
			e := x.find(word)
			if e == nil {
				b := x.bucket(word)
				e = bump.New[entry](&a)
				e.word = bump.String(&a, word)
				e.next, *b = *b, e
			}
			if n := len(e.lines); n == 0 || e.lines[n-1] != int32(i) {
				e.lines = bump.Push(&a, e.lines, int32(i))
			}
		}
	}
	return x, a.Stats()
}

func (x *Index) bucket(word string) **entry {
	return &x.buckets[maphash.String(x.seed, word)%uint64(len(x.buckets))]
}

func (x *Index) find(word string) *entry {
	e := *x.bucket(word)
	for e != nil && e.word != word {
		e = e.next
	}
	return e
}

// Lines returns the numbers of the lines with word, from 0.
func (x *Index) Lines(word string) []int32 {
	e := x.find(word)
	if e == nil {
		return nil
	}
	return e.lines
}

const text = `a rose is a rose
a lily is a lily
and neither is a rose bush`

func main() {
	x, stats := build(text)
	for _, word := range []string{"rose", "lily", "is", "tulip"} {
		fmt.Println(word, x.Lines(word))
	}
	fmt.Println("the arena adds up:", stats.Reserved == stats.InUse+stats.Idle+stats.Gaps+stats.Overhead)
}
