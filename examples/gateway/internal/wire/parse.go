package wire

import (
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/haven-mem/haven/arena"
)

// MaxBatch is the most instructions in a request.
const MaxBatch = 64

// A parser reads one request from its first byte to the last.
type parser struct {
	a    *arena.Arena
	data []byte
	i    int // of the next byte

	index int    // of the message that is read, -1 outside of the list
	field string // whose value is read
}

// Parse reads a request of at least one message and at most [MaxBatch] and
// returns its messages in a. They do not refer to body. An error is a
// *SyntaxError. Parse panics with an *arena.LimitError if a is full. It costs
// some 10 ns for each field.
func Parse(a *arena.Arena, body []byte) ([]Message, error) {
	p := parser{a: a, data: body, index: -1}
	messages, err := p.request()
	if err != nil {
		return nil, err
	}
	if p.skipSpace(); p.i < len(p.data) {
		return nil, p.unexpected(p.i, "the end of the request")
	}
	if len(messages) == 0 {
		return nil, p.fail(p.i, `"orders" has no instructions`)
	}
	return messages, nil
}

// request reads {"orders": [...]}.
func (p *parser) request() (messages []Message, err error) {
	if err := p.expect('{', `'{'`); err != nil {
		return nil, err
	}
	start := p.i
	key, err := p.key(`"orders"`)
	if err != nil {
		return nil, err
	}
	if string(key) != "orders" {
		return nil, p.fail(start, `unknown field %.40q (want "orders")`, key)
	}
	if err := p.expect('[', `'['`); err != nil {
		return nil, err
	}
	if !p.next(']') {
		for {
			p.index++
			p.skipSpace()
			if p.index == MaxBatch {
				return nil, p.fail(p.i, "more than %d instructions", MaxBatch)
			}
			messages = arena.Push(p.a, messages, Message{})
			if err := p.message(&messages[p.index]); err != nil {
				return nil, err
			}
			if p.next(',') {
				continue
			}
			if err := p.expect(']', `',' or ']'`); err != nil {
				return nil, err
			}
			break
		}
		p.index = -1
	}
	return messages, p.expect('}', `'}'`)
}

// message reads an instruction.
func (p *parser) message(m *Message) error {
	if err := p.expect('{', `'{'`); err != nil {
		return err
	}
	if p.next('}') {
		return nil
	}
	for {
		p.skipSpace()
		start := p.i
		key, err := p.key("the name of a field")
		if err != nil {
			return err
		}
		f := fieldOf(key)
		if f == 0 {
			return p.fail(start, "unknown field %.40q", key)
		}
		if m.sent&f != 0 {
			return p.fail(start, "field %.40q for the second time", key)
		}
		m.sent |= f
		if err := p.value(m, f); err != nil {
			return err
		}
		if p.next(',') {
			continue
		}
		return p.expect('}', `',' or '}'`)
	}
}

// value reads the value of a field.
func (p *parser) value(m *Message, f fields) (err error) {
	p.field = f.first()
	switch f {
	case fieldOp:
		m.Op, err = p.text()
	case fieldAccount:
		m.Account, err = p.text()
	case fieldRef:
		m.Ref, err = p.text()
	case fieldSymbol:
		m.Symbol, err = p.text()
	case fieldSide:
		m.Side, err = p.text()
	case fieldTIF:
		m.TIF, err = p.text()
	case fieldID:
		m.ID, err = p.text()
	case fieldPrice:
		m.Price, err = p.number()
	case fieldQuantity:
		m.Quantity, err = p.number()
	}
	if err == nil {
		p.field = ""
	}
	return err
}

// key reads a name and the colon behind it. It is good until the request's body
// is used for something else.
func (p *parser) key(want string) ([]byte, error) {
	p.skipSpace()
	if p.i == len(p.data) || p.data[p.i] != '"' {
		return nil, p.unexpected(p.i, want)
	}
	raw, plain, err := p.quoted()
	if err != nil {
		return nil, err
	}
	if !plain {
		s, err := p.unquote(raw)
		if err != nil {
			return nil, err
		}
		raw = []byte(s)
	} else {
		raw = raw[1 : len(raw)-1]
	}
	return raw, p.expect(':', `':'`)
}

// text reads a string, which becomes one of the arena.
func (p *parser) text() (string, error) {
	p.skipSpace()
	if p.i == len(p.data) || p.data[p.i] != '"' {
		return "", p.unexpected(p.i, "a string")
	}
	raw, plain, err := p.quoted()
	if err != nil {
		return "", err
	}
	if plain {
		return arena.String(p.a, raw[1:len(raw)-1]), nil
	}
	s, err := p.unquote(raw)
	return arena.String(p.a, s), err
}

// quoted returns the string that begins here, with its quotes, and whether it is
// plain: without escapes, all ASCII.
func (p *parser) quoted() (raw []byte, plain bool, err error) {
	start := p.i
	plain = true
	for i := start + 1; i < len(p.data); i++ {
		switch c := p.data[i]; {
		case c == '"':
			p.i = i + 1
			return p.data[start:p.i], plain, nil
		case c == '\\':
			plain = false
			i++ // the next one does not end the string
		case c < ' ':
			return nil, false, p.fail(i, "unexpected %s in a string (want it escaped)", describe(p.data, i))
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return nil, false, p.fail(len(p.data), "unexpected end of request in a string (want a closing quote)")
}

// unquote returns the text of a string that is not plain, just read. There is no
// use for one in this format, so the standard library does the work, slowly.
func (p *parser) unquote(raw []byte) (s string, err error) {
	start := p.i - len(raw)
	if !utf8.Valid(raw) {
		return "", p.fail(start, "string is not UTF-8")
	}
	if json.Unmarshal(raw, &s) != nil {
		return "", p.fail(start, "string has an escape that JSON does not know")
	}
	return s, nil
}

// number reads a whole number.
func (p *parser) number() (int64, error) {
	p.skipSpace()
	start := p.i
	negative := start < len(p.data) && p.data[start] == '-'
	if negative {
		p.i++
	}
	first := p.i
	var n int64
	for ; p.i < len(p.data) && isDigit(p.data[p.i]); p.i++ {
		d := int64(p.data[p.i] - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, p.fail(start, "number is too large")
		}
		n = 10*n + d
	}
	switch {
	case p.i == first:
		return 0, p.unexpected(p.i, "a whole number")
	case p.data[first] == '0' && p.i > first+1:
		return 0, p.fail(start, "number begins with 0")
	case p.i < len(p.data) && (p.data[p.i] == '.' || p.data[p.i]|0x20 == 'e'):
		return 0, p.fail(start, "number is not a whole one, written without fraction and exponent")
	}
	if negative {
		n = -n
	}
	return n, nil
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// expect reads c, which must come next.
func (p *parser) expect(c byte, want string) error {
	if !p.next(c) {
		return p.unexpected(p.i, want)
	}
	return nil
}

// next reads c if it comes next, and reports whether it did. Space before it is
// skipped in any case.
func (p *parser) next(c byte) bool {
	p.skipSpace()
	if p.i < len(p.data) && p.data[p.i] == c {
		p.i++
		return true
	}
	return false
}

func (p *parser) skipSpace() {
	for p.i < len(p.data) {
		switch p.data[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}
