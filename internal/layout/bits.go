package layout

import (
	"strconv"
	"strings"
)

// plainWords is the number of words up to which Bits writes every bit.
const plainWords = 64

// Bits writes the pointer words as a row of bits, first word first: 1 for a
// word that holds a pointer, 0 for one that does not. A type smaller than a
// word, or one whose size is no multiple of it, has its last word counted in
// full. A type of size zero gives "-".
//
// Up to 64 words are written out. Larger types are written with repeat counts
// in the notation of regular expressions, wherever that is shorter: 0{512},
// (10){1000000}, 1(100){64}0. The length of the text grows with the number of
// fields, never with the lengths of arrays.
func (n *Node) Bits() string {
	words := n.Words()
	if words == 0 {
		return "-"
	}
	if words <= plainWords {
		out := make([]byte, words)
		for i := range out {
			out[i] = '0'
			if n.PointerAt(int64(i)) {
				out[i] = '1'
			}
		}
		return string(out)
	}
	return n.runs()
}

// runs writes all words of n, which must have whole words or be the outermost
// type.
func (n *Node) runs() string {
	var w bitWriter
	w.node(n)
	w.repeat("0", n.Words()-w.words, 1)
	w.flush()
	return w.out.String()
}

// bitWriter writes words in order and joins equal neighbours to one run.
type bitWriter struct {
	out   strings.Builder
	words int64  // words written, the pending run included
	unit  string // pending run: bits of one repeat,
	count int64  // and how many of them
}

// repeat adds count times a unit of the given number of words.
func (w *bitWriter) repeat(unit string, count, unitWords int64) {
	if count <= 0 {
		return
	}
	if unit != w.unit {
		w.flush()
		w.unit = unit
	}
	w.count += count
	w.words += count * unitWords
}

// flush writes the pending run, in full or counted, whichever is shorter.
func (w *bitWriter) flush() {
	if w.count > 0 {
		counted := w.unit
		if len(counted) > 1 {
			counted = "(" + counted + ")"
		}
		counted += "{" + strconv.FormatInt(w.count, 10) + "}"
		if int64(len(w.unit)) <= int64(len(counted))/w.count {
			counted = strings.Repeat(w.unit, int(w.count))
		}
		w.out.WriteString(counted)
	}
	w.unit, w.count = "", 0
}

// node adds the words of n up to its last pointer. What follows is left to
// the caller, who knows where the next pointer is.
func (w *bitWriter) node(n *Node) {
	switch {
	case n.Pointers == 0:
	case n.Elem != nil:
		unit := n.Elem.runs()
		w.repeat(unit, n.Len, n.Elem.Words())
	case n.Fields != nil:
		start := w.words
		for _, f := range n.Fields {
			if f.Node.Pointers > 0 {
				w.repeat("0", start+f.Offset/n.Word-w.words, 1)
				w.node(f.Node)
			}
		}
	default:
		for _, bit := range n.Mask {
			w.repeat(string(bit), 1, 1)
		}
	}
}
