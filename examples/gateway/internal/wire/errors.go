package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// A SyntaxError says that a request is not JSON, or not of the form that a
// request has.
type SyntaxError struct {
	Line   int // from 1
	Column int // from 1, in bytes
	Path   string
	Msg    string
}

// Error returns the place and what is wrong there.
func (e *SyntaxError) Error() string {
	place := fmt.Sprintf("line %d, column %d", e.Line, e.Column)
	if e.Path != "" {
		place += ", " + e.Path
	}
	return place + ": " + e.Msg
}

// A FieldError says that a field has a value that the market does not take.
type FieldError struct {
	Index int    // of the message in the request
	Field string // "" if it is about the message as a whole
	Msg   string
}

// Error returns the place and what is wrong there.
func (e *FieldError) Error() string {
	return Path(e.Index, e.Field) + ": " + e.Msg
}

// Path returns what errors call a field of message index, or the message itself
// if field is "": orders[3].price.
func Path(index int, field string) string {
	s := fmt.Sprintf("orders[%d]", index)
	if field != "" {
		s += "." + field
	}
	return s
}

// fail returns the error for the byte at i. Lines are counted only now.
func (p *parser) fail(i int, format string, args ...any) error {
	before := p.data[:i]
	return &SyntaxError{
		Line:   1 + bytes.Count(before, []byte{'\n'}),
		Column: i - bytes.LastIndexByte(before, '\n'),
		Path:   p.path(),
		Msg:    fmt.Sprintf(format, args...),
	}
}

// unexpected returns the error for the byte at i that is not what was wanted.
func (p *parser) unexpected(i int, want string) error {
	return p.fail(i, "unexpected %s (want %s)", describe(p.data, i), want)
}

// path names what is being parsed, "" outside of the messages.
func (p *parser) path() string {
	if p.index < 0 {
		return ""
	}
	return Path(p.index, p.field)
}

// describe names what is at i: a character in quotes, a byte that is no
// character, or the end.
func describe(data []byte, i int) string {
	if i >= len(data) {
		return "end of request"
	}
	r, size := utf8.DecodeRune(data[i:])
	if r == utf8.RuneError && size == 1 {
		return fmt.Sprintf("byte 0x%02x", data[i])
	}
	return strconv.QuoteRune(r)
}
