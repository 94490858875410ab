package profile

import "encoding/binary"

// A message is the encoding of a protocol buffer: fields one behind the other,
// each of which begins with its number and kind. Of the kinds there are two here,
// numbers of varying length and strings of bytes, which messages within a message
// are as well.
type message []byte

const (
	kindVarint = 0
	kindBytes  = 2
)

// raw adds a number.
func (m *message) raw(x uint64) { *m = binary.AppendUvarint(*m, x) }

// varint adds a field that is a number. A negative one of 64 bits is its two's
// complement.
func (m *message) varint(field int, x uint64) {
	m.raw(uint64(field)<<3 | kindVarint)
	m.raw(x)
}

// addBytes adds a field that is a message, or text.
func addBytes[T []byte | message | string](m *message, field int, b T) {
	m.raw(uint64(field)<<3 | kindBytes)
	m.raw(uint64(len(b)))
	*m = append(*m, b...)
}

// packed adds a field that is a list of numbers. It uses scratch.
func packed[T uint64 | int64](m, scratch *message, field int, list []T) {
	*scratch = (*scratch)[:0]
	for _, x := range list {
		scratch.raw(uint64(x))
	}
	addBytes(m, field, *scratch)
}
