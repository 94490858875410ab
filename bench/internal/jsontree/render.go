package jsontree

import (
	"encoding/json"
	"unicode/utf8"
)

// AppendJSON appends the tree at n to dst as compact JSON and returns the
// extended slice; siblings of n are not written, and neither is n's own key.
// The documents of a Stream each end with a line feed. A nil n is written as
// null and a Number without text as 0, so that a tree made by hand gives JSON
// too; the text of a number is written unchecked. Members keep their order
// and duplicates. Strings are escaped as json.Encoder does without EscapeHTML.
// It goes as deep as the tree does and allocates only to grow dst.
func AppendJSON(dst []byte, n *Node) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	switch n.Kind {
	case False:
		return append(dst, "false"...)
	case True:
		return append(dst, "true"...)
	case Number:
		if n.Text == "" {
			return append(dst, '0')
		}
		return append(dst, n.Text...)
	case String:
		return appendString(dst, n.Text)
	case Array:
		dst = append(dst, '[')
		for c := n.Child; c != nil; c = c.Next {
			if c != n.Child {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, c)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for c := n.Child; c != nil; c = c.Next {
			if c != n.Child {
				dst = append(dst, ',')
			}
			dst = appendString(dst, c.Key)
			dst = append(dst, ':')
			dst = AppendJSON(dst, c)
		}
		return append(dst, '}')
	case Stream:
		for c := n.Child; c != nil; c = c.Next {
			dst = AppendJSON(dst, c)
			dst = append(dst, '\n')
		}
		return dst
	default:
		return append(dst, "null"...)
	}
}

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. Bytes that are no UTF-8 become
// U+FFFD; U+2028 and U+2029 are escaped because JavaScript once took them for
// line ends.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0 // s[:done] is written
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = append(dst, s[done:i]...)
			switch c {
			case '"', '\\':
				dst = append(dst, '\\', c)
			case '\b':
				dst = append(dst, `\b`...)
			case '\f':
				dst = append(dst, `\f`...)
			case '\n':
				dst = append(dst, `\n`...)
			case '\r':
				dst = append(dst, `\r`...)
			case '\t':
				dst = append(dst, `\t`...)
			default:
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
			}
			i++
			done = i
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, s[done:i]...)
			dst = append(dst, "\ufffd"...)
			done = i + size
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, s[done:i]...)
			dst = append(dst, '\\', 'u', '2', '0', '2', hexDigits[r&15])
			done = i + size
		}
		i += size
	}
	dst = append(dst, s[done:]...)
	return append(dst, '"')
}

// Interface returns the tree at n in the form in which a json.Decoder with
// UseNumber decodes into an any: nil, bool, json.Number, string, []any and
// map[string]any, where the last of several members with one key wins. A
// Stream becomes an []any of its documents, and a nil n becomes nil. The
// strings are those of the tree, not copies: they live as long as its memory.
// It goes as deep as the tree does and allocates on the heap.
func (n *Node) Interface() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case False:
		return false
	case True:
		return true
	case Number:
		return json.Number(n.Text)
	case String:
		return n.Text
	case Array, Stream:
		list := []any{} // empty, but not nil, as in encoding/json
		for c := n.Child; c != nil; c = c.Next {
			list = append(list, c.Interface())
		}
		return list
	case Object:
		members := map[string]any{}
		for c := n.Child; c != nil; c = c.Next {
			members[c.Key] = c.Interface()
		}
		return members
	default:
		return nil
	}
}
