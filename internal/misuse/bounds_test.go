package misuse_test

import "os"

// Accesses beyond the end of an object and before its start, as unsafe.Slice and
// unsafe.Add make them. The object has others on both sides, and is released
// afterwards.
var bounds = []*scenario{
	outside("a byte written behind the end", func(o object) int { return int(o.size) }, true),
	outside("a byte written 8 behind the end", func(o object) int { return int(o.size) + 7 }, true),
	outside("a byte read behind the end", func(o object) int { return int(o.size) }, false),
	outside("a byte written before the start", func(object) int { return -1 }, true),
	outside("a byte written 8 before the start", func(object) int { return -8 }, true),
	outside("a byte read before the start", func(object) int { return -1 }, false),
}

var sink byte

func outside(name string, offset func(object) int, write bool) *scenario {
	return &scenario{
		name:  name,
		pages: true,
		only:  func(m *memory, y typ) bool { return !m.heap && !y.links },
		make: func(t *trial) {
			o, all := t.between()
			if running.paged && t.m.paged {
				o, all = t.onPages(offset)
			}
			if o.p == nil {
				say("alone")
				return
			}
			at := offset(o)
			if write {
				t.misuse()
				*o.at(at) = 0xA7
			} else {
				t.misuse()
				sink = *o.at(at)
			}
			t.later()
			t.m.release(t, o)
			for _, x := range all {
				if t.m.single && x != o {
					t.m.release(nil, x)
				}
			}
		},
	}
}

// between allocates until there is an object with 8 bytes of others right before and
// behind it, and returns it and all: what is written beside it must be the trial's
// own, or the process is no longer one that could report anything. It returns a zero
// object if the kind gives objects of this size memory apart from each other.
func (t *trial) between() (o object, all []object) {
	side := int(7+t.typ.size()) / int(t.typ.size()) // objects on each side
	chain := 1                                      // objects one beside the other up to here
	for range min(64, 2+(512<<10)/t.typ.size()) {
		x := t.m.alloc(t)
		all = append(all, x)
		n := len(all)
		if n > 1 && beside(all[n-2], x) && (n == 2 || chain == 1 || up(all[n-3], all[n-2]) == up(all[n-2], x)) {
			chain++
		} else {
			chain = 1
		}
		if chain > 2*side {
			return all[n-1-side], all
		}
	}
	return object{}, all
}

const (
	atEdge  = "at the edge of its pages"
	offEdge = "off the edge of its pages"
)

// onPages allocates until there is an object for which an offset is on another page, or
// is not.
func (t *trial) onPages(offset func(object) int) (o object, all []object) {
	for range 64 {
		x := t.m.alloc(t)
		all = append(all, x)
		own := uintptr(x.p)
		at := own + uintptr(offset(x))
		if at > own {
			own += x.size - 1
		}
		page := uintptr(os.Getpagesize())
		if (own/page != at/page) == (t.offset == atEdge) {
			return x, all
		}
	}
	return object{}, all
}

func up(x, y object) bool { return uintptr(x.p) < uintptr(y.p) }

// beside reports whether there is little between two objects, such as a red zone.
func beside(x, y object) bool {
	if up(y, x) {
		x, y = y, x
	}
	return uintptr(y.p)-uintptr(x.p)-x.size <= 64
}
