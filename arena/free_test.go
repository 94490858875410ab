package arena_test

import (
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
)

// What points into a freed arena stays as it is, and nothing is reused.
func TestFreeLeavesValues(t *testing.T) {
	a := arena.NewArena()
	p := arena.NewFrom(a, node{name: arena.String(a, "kept"), left: arena.NewFrom(a, node{key: 3})})
	s := arena.Append(a, []int(nil), 1, 2, 3)
	v := arena.NewOf(a, reflect.TypeFor[int]())
	v.Elem().SetInt(9)
	a.Free()
	b := arena.NewArena()
	for range 10000 {
		*arena.New[node](b) = node{key: -1}
		*arena.New[int](b) = -1
	}
	fillDirty(b)
	if p.name != "kept" || p.left.key != 3 || s[2] != 3 || v.Elem().Int() != 9 {
		t.Errorf("%+v %+v %v %v", p, p.left, s, v.Elem())
	}
}

func TestFreeUnused(t *testing.T) {
	(*arena.Arena)(nil).Free()
	(*arena.Arena)(nil).Free()
	new(arena.Arena).Free()
	arena.NewArena(arena.Config{Name: "x"}).Free()
	a := arena.NewArena()
	a.Reset()
	a.Free()
}
