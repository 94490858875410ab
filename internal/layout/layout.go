// Package layout knows where the garbage collector looks for pointers in a
// value: it turns a type into a small tree from which size, pointer words and
// their order can be read without walking the memory word by word.
//
// The tree follows the masks that the compiler writes for the collector:
//
//	pointer, map, chan, func, unsafe.Pointer   1
//	string                                     10
//	slice                                      100
//	interface                                  01
//	everything else that is not composed       0
//
// The first word of an interface points to a type or a method table. Neither
// is on the collected heap in a way the mask has to know of, so its bit is 0.
// Arrays repeat their element, structs place their fields at their offsets,
// padding is 0. Pointers and slices whose element type is marked as not in
// the heap (in practice *runtime/cgo.Incomplete) have no 1 at all.
//
// There are two sources of trees: [Of] reads a [reflect.Type] of the running
// program; a tool that has types in another form (go/types, another
// architecture) composes [Leaf], [Array] and [Struct] itself. An array is one
// node however long it is, so questions about [1<<40]string cost the same as
// those about [2]string.
//
// Nodes are never changed after they are made and may be shared between
// goroutines and between trees.
package layout

import "fmt"

// The masks of the types that are not composed of others.
const (
	Scalar    = "" // no pointer
	Pointer   = "1"
	String    = "10"
	Slice     = "100"
	Interface = "01"
)

// Node is the layout of one type. A nil *Node is not valid.
type Node struct {
	Name     string  // the type's name, for messages
	Size     int64   // bytes
	Align    int64   // bytes
	Word     int64   // bytes in a pointer on the architecture described
	Pointers int64   // pointer words in the whole value
	PtrBytes int64   // bytes from the start to the end of the last pointer word
	Mask     string  // a leaf's pointer words, first word first; see Scalar and the rest
	Elem     *Node   // an array's element; nil for leaves and structs
	Len      int64   // an array's length
	Fields   []Field // a struct's fields in order of offset
}

// Field is one field of a struct.
type Field struct {
	Name   string // "_" for a blank field; an embedded field has its type's name
	Offset int64  // bytes from the start of the struct
	Node   *Node
}

// Leaf makes the node of a type that is not composed of others. The mask is
// one of [Scalar], [Pointer], [String], [Slice], [Interface].
func Leaf(name string, size, align, word int64, mask string) *Node {
	n := &Node{Name: name, Size: size, Align: align, Word: word, Mask: mask}
	for i, bit := range mask {
		if bit == '1' {
			n.Pointers++
			n.PtrBytes = int64(i+1) * word
		}
	}
	return n
}

// Array makes the node of an array of length elements.
func Array(name string, length int64, elem *Node) *Node {
	n := &Node{Name: name, Size: length * elem.Size, Align: elem.Align, Word: elem.Word, Elem: elem, Len: length}
	if length > 0 && elem.Pointers > 0 {
		n.Pointers = length * elem.Pointers
		n.PtrBytes = (length-1)*elem.Size + elem.PtrBytes
	}
	return n
}

// Struct makes the node of a struct. The fields must be in order of offset;
// the node keeps the slice.
func Struct(name string, size, align, word int64, fields []Field) *Node {
	n := &Node{Name: name, Size: size, Align: align, Word: word, Fields: fields}
	for _, f := range fields {
		if f.Node.Pointers > 0 {
			n.Pointers += f.Node.Pointers
			n.PtrBytes = f.Offset + f.Node.PtrBytes
		}
	}
	return n
}

// Words returns how many words the value covers; the last one may be covered
// in part only. It is 0 for a type of size zero.
func (n *Node) Words() int64 {
	return (n.Size + n.Word - 1) / n.Word
}

// PointerAt reports whether word i of the value holds a pointer. It panics
// when there is no word i. It costs one step per level of nesting and field
// passed, whatever the lengths of arrays.
func (n *Node) PointerAt(i int64) bool {
	if i < 0 || i >= n.Words() {
		panic(fmt.Sprintf("layout: word %d of %s, which has %d words", i, n.Name, n.Words()))
	}
	at := i * n.Word
	for at < n.PtrBytes {
		switch {
		case n.Elem != nil:
			// An array with pointers has elements of whole words, so no
			// word lies across two of them.
			n, at = n.Elem, at%n.Elem.Size
		case n.Fields != nil:
			f := n.fieldAt(at)
			if f == nil {
				return false
			}
			n, at = f.Node, at-f.Offset
		default:
			return n.Mask[at/n.Word] == '1'
		}
	}
	return false
}

// fieldAt returns the field with pointers that covers the byte at the given
// offset. A word shared by several fields belongs to none with pointers, since
// those start on a word and end on one.
func (n *Node) fieldAt(at int64) *Field {
	for i := range n.Fields {
		f := &n.Fields[i]
		if f.Node.Pointers > 0 && f.Offset <= at && at < f.Offset+f.Node.Size {
			return f
		}
	}
	return nil
}

// FirstPointer returns the way to the first pointer word, such as
// ".Items[0].Next", and the node of the type found there. It returns "" and n
// itself when n is not composed, and a nil node when there is no pointer.
func (n *Node) FirstPointer() (path string, leaf *Node) {
	if n.Pointers == 0 {
		return "", nil
	}
	for {
		switch {
		case n.Elem != nil:
			path += "[0]"
			n = n.Elem
		case n.Fields != nil:
			for _, f := range n.Fields {
				if f.Node.Pointers > 0 {
					path += "." + f.Name
					n = f.Node
					break
				}
			}
		default:
			return path, n
		}
	}
}
