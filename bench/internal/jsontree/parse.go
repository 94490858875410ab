package jsontree

import "sync"

// maxDepth is the number of containers that may be open at once; encoding/json
// has the same limit.
const maxDepth = 10000

// maxScratch bounds the decoding buffers that are kept for the next parse: one
// huge string must not stay in memory for the rest of the program.
const maxScratch = 64 << 10

// scratches holds the buffers in which strings with escapes are decoded.
var scratches = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// Parse parses data as one JSON document and returns its root, whose nodes and
// strings all come from a; the tree does not refer to data. It accepts exactly
// what json.Valid accepts. Bytes in strings that are no UTF-8 and surrogates
// without a partner become U+FFFD, as in encoding/json; duplicate keys are all
// kept, in order.
//
// The error is always a *SyntaxError. What was taken from a until then is left
// to the caller, who may reset a. Empty and nil data are errors. A panic of
// the allocator (for instance of an arena that is over its limit) passes
// through and leaves nothing behind. Any number of goroutines may parse at
// once, each with its own allocator or with one that allows it.
//
// Cost: one pass over data, one call of a.NewNode per value and one of
// a.String per key, string and number; no other allocations but for a pooled
// buffer, and no recursion.
func Parse[A Allocator](a A, data []byte) (*Node, error) {
	return parse(a, data, false)
}

// ParseStream parses data as a sequence of JSON documents, such as `go list
// -json` prints, and returns a node of kind Stream whose children are the
// documents. It accepts what a json.Decoder reads to the end without error:
// there may be white space between documents, or nothing where they end by
// themselves (`{}[]`). Empty data and data of nothing but white space are an
// empty stream. In everything else it is like Parse.
func ParseStream[A Allocator](a A, data []byte) (*Node, error) {
	return parse(a, data, true)
}

// parse is the parser. It has no stack of its own: while a container is open
// its Next field is not needed yet, because the next sibling comes only after
// it is closed, so Next holds the enclosing open container until then. slot is
// where the next node will be linked: the Child field of the container just
// opened, or the Next field of the value just ended.
func parse[A Allocator](a A, data []byte, stream bool) (*Node, error) {
	var (
		root  *Node
		open  *Node // innermost open container; nil between documents
		slot  = &root
		depth = 0
		i     = 0
	)
	if stream {
		root = a.NewNode()
		root.Kind = Stream
		slot = &root.Child
	}
	scratch := scratches.Get().(*[]byte)

	for {
		// Before a value, and before its key in an object.
		i = skipSpace(data, i)
		key := ""
		if open == nil {
			if stream && i == len(data) {
				break
			}
		} else if open.Kind == Object {
			if i == len(data) || data[i] != '"' {
				return nil, missingKey(data, i)
			}
			b, next, bad := scanString(data, i+1, scratch)
			if bad != noFault {
				return nil, stringError(data, next, bad)
			}
			key = a.String(b)
			i = skipSpace(data, next)
			if i == len(data) || data[i] != ':' {
				return nil, syntaxError(data, i, "after the key", "':'")
			}
			i = skipSpace(data, i+1)
		}
		if i == len(data) {
			return nil, missingValue(data, i, open != nil)
		}

		// The value.
		n := a.NewNode()
		n.Key = key
		n.Offset = i
		*slot = n
		slot = &n.Next
		switch c := data[i]; c {
		case '"':
			b, next, bad := scanString(data, i+1, scratch)
			if bad != noFault {
				return nil, stringError(data, next, bad)
			}
			n.Kind = String
			n.Text = a.String(b)
			i = next
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end, ok := scanNumber(data, i)
			if !ok {
				return nil, syntaxError(data, end, "in a number", "a digit")
			}
			n.Kind = Number
			n.Text = a.String(data[i:end])
			i = end
		case '{', '[':
			if depth == maxDepth {
				return nil, tooDeep(data, i)
			}
			depth++
			n.Kind = Object
			if c == '[' {
				n.Kind = Array
			}
			n.Next = open
			open = n
			slot = &n.Child
			i = skipSpace(data, i+1)
			// '}' and ']' are each two after their opening bytes.
			if i == len(data) || data[i] != c+2 {
				continue
			}
		case 't':
			if len(data)-i < 4 || string(data[i:i+4]) != "true" {
				return nil, literalError(data, i, "true")
			}
			n.Kind = True
			i += 4
		case 'f':
			if len(data)-i < 5 || string(data[i:i+5]) != "false" {
				return nil, literalError(data, i, "false")
			}
			n.Kind = False
			i += 5
		case 'n':
			if len(data)-i < 4 || string(data[i:i+4]) != "null" {
				return nil, literalError(data, i, "null")
			}
			i += 4 // Null is the zero Kind
		default:
			return nil, missingValue(data, i, open != nil)
		}

		// After a value: close what ends here, up to the next comma. A
		// container that was opened and is empty comes here at its end too.
		for open != nil {
			i = skipSpace(data, i)
			if i == len(data) {
				return nil, missingComma(data, i, open.Kind)
			}
			c := data[i]
			if c == ',' {
				i++
				break
			}
			closer := byte('}')
			if open.Kind == Array {
				closer = ']'
			}
			if c != closer {
				return nil, missingComma(data, i, open.Kind)
			}
			i++
			depth--
			closed := open
			open = closed.Next
			closed.Next = nil
			slot = &closed.Next
		}
		if open == nil && !stream {
			i = skipSpace(data, i)
			if i != len(data) {
				return nil, syntaxError(data, i, "after the document", "the end")
			}
			break
		}
	}
	if cap(*scratch) <= maxScratch {
		scratches.Put(scratch)
	}
	return root, nil
}
