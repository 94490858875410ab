// Package jsontree parses JSON into a linked tree of nodes, taking every
// node and every string from an allocator that the caller chooses. It is the
// program under test of the benchmark workload jsontree: one parser, the same
// machine code paths, only the memory differs.
//
// Use it to compare allocators on real input, or as an example of a parser
// written against an allocator. Do not use it as a general JSON library: it
// reads whole documents from memory, it has no binding to structs, and its
// tree is made for walking from front to back.
//
// What it accepts and rejects is exactly what encoding/json's Valid does (for
// sequences of documents: what repeated calls of json.Decoder's Decode do),
// the limit of 10,000 nesting levels included, and its view of a document is
// that of a json.Decoder with UseNumber. Unlike that view, the tree keeps
// duplicate keys and the order of the keys.
//
// The parser costs no memory beside what it takes from the allocator: the
// stack of open containers is threaded through the tree (see parse), and the
// buffer in which strings with escapes are decoded is reused.
package jsontree

// Kind says what a Node is.
type Kind uint8

// The kinds of nodes. The zero Kind is Null, so a zero Node is the JSON value
// null.
const (
	Null   Kind = iota
	False       // the literal false
	True        // the literal true
	Number      // Text is the number as it was written
	String      // Text is the decoded string
	Array       // Child is the first element
	Object      // Child is the first member, in the order of the input
	Stream      // root of a sequence of documents; Child is the first document
)

var kindNames = [...]string{"null", "false", "true", "number", "string", "array", "object", "stream"}

// String returns the name of the kind in lower case, and "invalid" for a
// value that is none of the constants. It does not allocate.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Node is one JSON value in a tree: a container points to its first child,
// and each child to its next sibling. A Node is owned by the memory it came
// from and is valid for as long as that is; the parser never touches it again
// once Parse has returned. It is not synchronised: any number of goroutines
// may read a tree that none writes. The zero Node is null.
//
// A Node takes 64 bytes on 64-bit machines, a size class of Go's heap, so
// that no allocator in a comparison is charged for rounding. The words with
// pointers come first, so that the collector reads no further than Next.
type Node struct {
	Key  string // the member's name when the parent is an Object; otherwise empty
	Text string // of a Number, as written; of a String, decoded; otherwise empty

	Child *Node // first child of an Array, Object or Stream; nil when there is none
	Next  *Node // next sibling; nil in the last one

	Offset int // position of the value's first byte in the input, in bytes from 0
	Kind   Kind
}

// Allocator is the memory that a parse takes its nodes and strings from. It
// is a type parameter of Parse rather than an interface value; every
// allocator is called in the same way and pays the same for it.
type Allocator interface {
	// NewNode returns a zeroed Node that nothing else points to.
	NewNode() *Node
	// String returns a copy of b in the allocator's memory. It must not
	// keep b, which belongs to the input or to a buffer that is reused.
	String(b []byte) string
}

// Heap is the Allocator that uses Go's heap: new and a string conversion. The
// zero value is ready, and any number of goroutines may use it.
type Heap struct{}

// NewNode returns a zeroed Node from the heap: one allocation.
func (Heap) NewNode() *Node { return new(Node) }

// String returns a copy of b on the heap: one allocation when b is longer
// than one byte.
func (Heap) String(b []byte) string { return string(b) }

// Count returns the number of nodes of the tree at n: n itself and all below
// it, but not its siblings. A nil n counts 0. It walks the whole tree, goes as
// deep as the tree does, and allocates nothing.
func Count(n *Node) int {
	if n == nil {
		return 0
	}
	count := 1
	for c := n.Child; c != nil; c = c.Next {
		if c.Child == nil {
			count++ // leaves are most of a tree: no call for them
			continue
		}
		count += Count(c)
	}
	return count
}
