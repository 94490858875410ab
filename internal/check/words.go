package check

import (
	"reflect"
	"sync"

	"github.com/haven-mem/haven/internal/layout"
)

// A word is what a word of an element holds when it is poisoned: the pattern, a
// pointer, or else a length of so many elements.
type word uint16

const (
	pattern word = iota
	pointer
)

// holds returns the number for w, where pointers hold page.
func (w word) holds(page uintptr) uintptr {
	switch w {
	case pattern:
		return patternWord
	case pointer:
		return page
	}
	return uintptr(w)
}

// reach is how many bytes the elements of a poisoned slice, or string, take together.
// All of them are within [stride] of its pointer, so that whoever copies, appends or
// indexes takes a fault that tells which release it was. A length that is larger, or
// negative, would be out of range before anything is read, in places that do not say
// what it is, or ask for so much memory that the program ends. It is two bytes of the
// pattern, to be known by.
const reach = 0xDBDB

// lengthOf returns the length and the capacity that slices of elements of that size
// have in released memory.
func lengthOf(size uintptr) word { return word(max(2, reach/max(size, 1))) }

// elementOf returns the size of elements of which a poisoned slice has n, and whether
// that is a size by which such a slice can be told from others.
func elementOf(n int) (size int, known bool) {
	const fewest = 1000
	if n < fewest || n > reach {
		return 0, false
	}
	size = reach / n
	return size, reach/size == n && (size&7 == 0 || size&(size-1) == 0)
}

// elements has, by type, the words of an element up to the last that does not hold the
// pattern.
var elements sync.Map // reflect.Type to []word

// wordsOf returns the words of an element of type t, none if it has no pointers.
func wordsOf(t reflect.Type) []word {
	if w, ok := elements.Load(t); ok {
		return w.([]word)
	}
	var w []word
	if layout.Of(t).Pointers > 0 {
		w = make([]word, t.Size()/wordSize)
		describe(w, t)
		for w[len(w)-1] == pattern {
			w = w[:len(w)-1]
		}
	}
	elements.Store(t, w)
	return w
}

// describe sets the words of a value of type t: for an interface both are pointers,
// although the collector does not look at the first one.
func describe(w []word, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		w[0] = pointer
	case reflect.Interface:
		w[0], w[1] = pointer, pointer
	case reflect.String:
		w[0], w[1] = pointer, lengthOf(1)
	case reflect.Slice:
		w[0], w[1], w[2] = pointer, lengthOf(t.Elem().Size()), lengthOf(t.Elem().Size())
	case reflect.Array:
		if size := t.Elem().Size() / wordSize; size > 0 && layout.Of(t.Elem()).Pointers > 0 {
			describe(w, t.Elem())
			for i := uintptr(1); i < uintptr(t.Len()); i++ {
				copy(w[i*size:], w[:size])
			}
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if layout.Of(f.Type).Pointers > 0 {
				describe(w[f.Offset/wordSize:], f.Type)
			}
		}
	}
}
