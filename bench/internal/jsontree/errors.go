package jsontree

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// SyntaxError is the error of Parse and ParseStream: what was found, where,
// and what was expected. It prints like
//
//	line 3, column 14: unexpected '}' after ',' (want a string key)
type SyntaxError struct {
	Offset int // index of the offending byte, from 0; the input's length when it ended too early
	Line   int // from 1; lines end with a line feed
	Column int // from 1, in bytes, not characters: 1 is the line's first byte

	Got   string // what was found: a quoted character, a byte, or "end of input"
	Where string // the place in words: "after ','", "in a string"
	Want  string // what would have been right: "a string key"
}

// Error returns the position and the three parts on one line.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: unexpected %s %s (want %s)", e.Line, e.Column, e.Got, e.Where, e.Want)
}

// syntaxError returns the error for the byte at i, or for the end of the input
// when i is its length. Lines are counted only now, so that a parse without
// errors never does.
func syntaxError(data []byte, i int, where, want string) *SyntaxError {
	before := data[:i]
	return &SyntaxError{
		Offset: i,
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: i - bytes.LastIndexByte(before, '\n'),
		Got:    describe(data, i),
		Where:  where,
		Want:   want,
	}
}

// describe names what is at i: a character in quotes, a byte that is no
// character, or the end.
func describe(data []byte, i int) string {
	if i == len(data) {
		return "end of input"
	}
	r, size := utf8.DecodeRune(data[i:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("byte 0x%02x", data[i])
	}
	return strconv.QuoteRune(r)
}

// follows names the token before i by its last byte, and that byte. It is for
// places where only one of '{', '[', ',' and ':' can stand before.
func follows(data []byte, i int) (where string, token byte) {
	for i--; data[i] <= ' '; i-- {
	}
	return "after '" + string(rune(data[i])) + "'", data[i]
}

func missingKey(data []byte, i int) *SyntaxError {
	where, token := follows(data, i)
	want := "a string key"
	if token == '{' {
		want += " or '}'"
	}
	return syntaxError(data, i, where, want)
}

func missingValue(data []byte, i int, inside bool) *SyntaxError {
	if !inside {
		return syntaxError(data, i, "at the start of a document", "a JSON value")
	}
	where, token := follows(data, i)
	want := "a value"
	if token == '[' {
		want += " or ']'"
	}
	return syntaxError(data, i, where, want)
}

func missingComma(data []byte, i int, in Kind) *SyntaxError {
	if in == Array {
		return syntaxError(data, i, "after an array element", "',' or ']'")
	}
	return syntaxError(data, i, "after an object's value", "',' or '}'")
}

func tooDeep(data []byte, i int) *SyntaxError {
	return syntaxError(data, i, fmt.Sprintf("inside %d open arrays and objects", maxDepth), "no deeper nesting")
}

// literalError is the error for the bytes at i, which begin like the literal
// but are not it.
func literalError(data []byte, i int, literal string) *SyntaxError {
	n := 0
	for i+n < len(data) && n < len(literal) && data[i+n] == literal[n] {
		n++
	}
	return syntaxError(data, i+n, "after '"+literal[:n]+"'", "the literal "+literal)
}

func stringError(data []byte, i int, bad fault) *SyntaxError {
	switch bad {
	case faultControl:
		return syntaxError(data, i, "in a string", "control characters escaped")
	case faultEscape:
		return syntaxError(data, i, `after '\'`, `one of "\/bfnrtu`)
	case faultHex:
		return syntaxError(data, i, `after '\u'`, "four hexadecimal digits")
	default:
		return syntaxError(data, i, "in a string", "a closing quote")
	}
}
