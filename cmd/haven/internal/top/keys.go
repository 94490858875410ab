package top

// A key is a key of the keyboard: the character it makes, or one of those below.
type key rune

const (
	keyUp key = -1 - iota
	keyDown
	keyLeft
	keyRight
	keyPageUp
	keyPageDown
	keyHome
	keyEnd
	keyEscape
	keyUnknown // one that has no name here

	keyInterrupt key = 3 // Ctrl-C, which is no signal in raw mode
	keyTab       key = '\t'
)

// A keyDecoder makes keys out of what a terminal sends for them. A sequence may
// come in pieces.
type keyDecoder struct {
	state byte // 0, or the last byte that began something: ESC, '[' or 'O'
	param byte // the first of a sequence's parameters
}

const escape = 0x1b

// decode returns the keys in what was read at once. The Escape key sends the byte
// that sequences begin with: it is taken for the key if nothing came along with it.
// If the rest of a sequence follows later, it is still understood.
func (d *keyDecoder) decode(input []byte) []key {
	var keys []key
	for _, b := range input {
		if k, ok := d.next(b); ok {
			keys = append(keys, k)
		}
	}
	if d.state == escape && len(input) == 1 {
		keys = append(keys, keyEscape)
	}
	return keys
}

func (d *keyDecoder) next(b byte) (key, bool) {
	switch {
	case b == escape:
		d.state, d.param = escape, 0
		return 0, false
	case d.state == escape && (b == '[' || b == 'O'):
		d.state = b
		return 0, false
	case d.state == '[' && b >= 0x20 && b < 0x40:
		if d.param == 0 {
			d.param = b
		}
		return 0, false
	case d.state == '[' || d.state == 'O':
		d.state = 0
		return sequenceKey(b, d.param), true
	case d.state == escape: // Alt and a character
		d.state = 0
		return keyUnknown, true
	case b >= 0x80: // of a character beyond ASCII, which no command has
		return 0, false
	}
	return key(b), true
}

// sequenceKey names a sequence by its last byte and the first parameter.
func sequenceKey(last, param byte) key {
	switch last {
	case 'A':
		return keyUp
	case 'B':
		return keyDown
	case 'C':
		return keyRight
	case 'D':
		return keyLeft
	case 'H':
		return keyHome
	case 'F':
		return keyEnd
	case 'Z': // Shift-Tab
		return keyLeft
	case '~':
		switch param {
		case '1', '7':
			return keyHome
		case '4', '8':
			return keyEnd
		case '5':
			return keyPageUp
		case '6':
			return keyPageDown
		}
	}
	return keyUnknown
}
