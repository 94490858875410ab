package profile

// A message is the encoding of a protocol buffer: fields one behind the other,
// each of which begins with its number and kind. Of the kinds there are two here,
// numbers of varying length and strings of bytes, which messages within a message
// are as well.
type message []byte

const (
	kindVarint = 0
	kindBytes  = 2
)

// raw adds a number, 7 bits to a byte, the lowest first. All but the last byte
// have the highest bit set.
func (m *message) raw(x uint64) {
	for x >= 0x80 {
		*m = append(*m, byte(x)|0x80)
		x >>= 7
	}
	*m = append(*m, byte(x))
}

// varint adds a field that is a number. A negative one of 64 bits is its two's
// complement.
func (m *message) varint(field int, x uint64) {
	m.raw(uint64(field)<<3 | kindVarint)
	m.raw(x)
}

// bytes adds a field that is a message.
func (m *message) bytes(field int, b []byte) {
	m.raw(uint64(field)<<3 | kindBytes)
	m.raw(uint64(len(b)))
	*m = append(*m, b...)
}

// string adds a field that is text.
func (m *message) string(field int, s string) {
	m.raw(uint64(field)<<3 | kindBytes)
	m.raw(uint64(len(s)))
	*m = append(*m, s...)
}

// packed adds a field that is a list of numbers. It uses scratch.
func packed[T uint64 | int64](m, scratch *message, field int, list []T) {
	*scratch = (*scratch)[:0]
	for _, x := range list {
		scratch.raw(uint64(x))
	}
	m.bytes(field, *scratch)
}
