package jsontree

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// spaces has the bit 1<<c for each byte c that JSON calls white space.
const spaces = 1<<' ' | 1<<'\t' | 1<<'\n' | 1<<'\r'

// skipSpace returns the index of the first byte from i on that is not white
// space. It inlines.
func skipSpace(data []byte, i int) int {
	for i < len(data) && data[i] <= ' ' && uint64(spaces)>>data[i]&1 != 0 {
		i++
	}
	return i
}

// fault is what scanString found wrong.
type fault uint8

const (
	noFault      fault = iota
	faultEnd           // the input ends inside the string
	faultControl       // a control character that is not escaped
	faultEscape        // an unknown byte after the backslash
	faultHex           // not four hexadecimal digits after \u
)

const (
	ones  = 0x0101010101010101 // times c: the byte c in each of eight lanes
	highs = 0x8080808080808080
)

// scanString reads a string whose first byte after the opening quote is at i.
// It returns the decoded bytes, which are part of data or of the scratch
// buffer and valid until the next call, and the index after the closing quote.
// On a fault next is the index of the offending byte.
//
// Most strings have no escapes. For them this reads eight bytes at a time and
// copies nothing. Bytes from 0x80 on are only noted on the way, and checked as
// a whole at the end.
func scanString(data []byte, i int, scratch *[]byte) (b []byte, next int, bad fault) {
	start := i
	seen := uint64(0) // all bytes or'ed together, and up to seven after the end
	for len(data)-i >= 8 {
		w := binary.LittleEndian.Uint64(data[i:])
		seen |= w
		// The high bit of each lane that is '"', '\\' or below ' '. A borrow
		// can set it wrongly only in lanes above one where it is right, so
		// the lowest one is always right.
		quote := w ^ '"'*ones
		slash := w ^ '\\'*ones
		stop := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
		if stop != 0 {
			i += bits.TrailingZeros64(stop) / 8
			return endString(data, start, i, seen, scratch)
		}
		i += 8
	}
	for i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' {
		seen |= uint64(data[i])
		i++
	}
	return endString(data, start, i, seen, scratch)
}

// endString ends scanString's fast path at i, the first byte that is not
// plain.
func endString(data []byte, start, i int, seen uint64, scratch *[]byte) ([]byte, int, fault) {
	if i < len(data) && data[i] == '"' && (seen&highs == 0 || utf8.Valid(data[start:i])) {
		return data[start:i], i + 1, noFault
	}
	return decodeString(data, start, scratch)
}

// decodeString is scanString for strings with escapes, with bytes that are no
// UTF-8, or with a fault. It decodes into the scratch buffer.
func decodeString(data []byte, i int, scratch *[]byte) (b []byte, next int, bad fault) {
	b = (*scratch)[:0]
	for i < len(data) {
		c := data[i]
		switch {
		case c == '"':
			*scratch = b // it may have grown
			return b, i + 1, noFault
		case c < ' ':
			return nil, i, faultControl
		case c >= utf8.RuneSelf:
			// A byte that is no UTF-8 decodes to U+FFFD with size 1.
			r, size := utf8.DecodeRune(data[i:])
			b = utf8.AppendRune(b, r)
			i += size
		case c != '\\':
			run := i
			for i++; i < len(data) && data[i] != '"' && data[i] != '\\' && data[i] >= ' ' && data[i] < utf8.RuneSelf; i++ {
			}
			b = append(b, data[run:i]...)
		default:
			i++
			if i == len(data) {
				return nil, i, faultEnd
			}
			c = data[i]
			i++
			switch c {
			case '"', '\\', '/':
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'u':
				r, end := scanHex4(data, i)
				if end != i+4 {
					if end == len(data) {
						return nil, end, faultEnd
					}
					return nil, end, faultHex
				}
				i = end
				if utf16.IsSurrogate(r) && len(data)-i >= 2 && data[i] == '\\' && data[i+1] == 'u' {
					// The second half is taken only when both make a pair;
					// otherwise it is read again as an escape of its own, and
					// so is one that is cut off: fewer than four digits are
					// too small a number for a pair.
					low, end := scanHex4(data, i+2)
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						r = pair
						i = end
					}
				}
				b = utf8.AppendRune(b, r) // writes U+FFFD for a surrogate
				continue
			default:
				return nil, i - 1, faultEscape
			}
			b = append(b, c)
		}
	}
	return nil, len(data), faultEnd
}

// scanHex4 reads up to four hexadecimal digits from i on. end is i+4 when all
// four are there, else the index of the byte that is none.
func scanHex4(data []byte, i int) (r rune, end int) {
	for end = i; end < i+4 && end < len(data); end++ {
		c := data[end]
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return r, end
		}
	}
	return r, end
}

// scanNumber returns the end of the number that begins at i with a digit or a
// minus sign, or the index of the byte where a digit is missing and false.
func scanNumber(data []byte, i int) (end int, ok bool) {
	if data[i] == '-' {
		i++
	}
	switch {
	case i == len(data):
		return i, false
	case data[i] == '0':
		i++ // a digit after a leading zero is not part of the number
	default:
		if i, ok = scanDigits(data, i); !ok {
			return i, false
		}
	}
	if i < len(data) && data[i] == '.' {
		if i, ok = scanDigits(data, i+1); !ok {
			return i, false
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		i++
		if i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		if i, ok = scanDigits(data, i); !ok {
			return i, false
		}
	}
	return i, true
}

// scanDigits returns the index after the digits at i, and whether there is at
// least one. It inlines.
func scanDigits(data []byte, i int) (end int, ok bool) {
	end = i
	for end < len(data) && data[end]-'0' <= 9 {
		end++
	}
	return end, end > i
}
