package arena_test

import (
	"reflect"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
)

// TestHolds asks for texts in each kind of chunk: open, left behind, one of a slice
// alone, of bytes and of what else a text may be part of.
func TestHolds(t *testing.T) {
	type field struct {
		next *field
		text [24]byte
	}
	of := func(b []byte) string { return unsafe.String(&b[0], len(b)) }
	a, other := arena.NewArena(), arena.NewArena()
	var dynamic *field
	for range 30 {
		dynamic = arena.NewOf(a, reflect.TypeFor[field]()).Interface().(*field)
	}
	held := map[string]string{
		"a string":         arena.String(a, "text"),
		"a large string":   arena.String(a, strings.Repeat("text", 1<<16)),
		"an object's text": of(arena.New[field](a).text[:]),
		"a slice's text":   of(arena.MakeSlice[field](a, 3, 3)[2].text[20:]),
		"a dynamic text":   of(dynamic.text[:]),
	}
	for range 1000 { // which leaves chunks behind
		arena.String(a, strings.Repeat("text", 10))
		arena.New[field](a)
		arena.NewOf(a, reflect.TypeFor[field]())
	}
	held["a string of the last chunk"] = arena.String(a, "text")
	free := []string{"", "text", strings.Repeat("heap", 10), arena.String(other, "other"), of(arena.New[field](other).text[:])}
	for what, s := range held {
		if !account.Holds(a, append(free[:len(free):len(free)], s)) {
			t.Errorf("%s is not in the arena", what)
		}
		if account.Holds(other, []string{s}) {
			t.Errorf("%s is in another arena", what)
		}
	}
	if account.Holds(a, free) || account.Holds(a, nil) || account.Holds(arena.NewArena(), free) {
		t.Error("a text that is elsewhere is in the arena")
	}
}
