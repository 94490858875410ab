package arena_test

import (
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

// A Lane works without an arena, from its zero value.
func TestLaneAlone(t *testing.T) {
	testkit.NeedsReuse(t)
	var l arena.Lane[node]
	l.Reset()
	for round := range 30 {
		seen := map[*node]bool{}
		var s []*node
		for i := range 1000 {
			p := l.New()
			if *p != (node{}) || seen[p] {
				t.Fatalf("round %d: value %d is %+v, seen %t", round, i, *p, seen[p])
			}
			seen[p] = true
			p.key = i + 1
			s = append(s, p)
			if i%50 == 0 {
				b := l.MakeSlice(i, 2*i+1)
				for _, v := range b[:cap(b)] {
					if v != (node{}) {
						t.Fatalf("slice holds %+v", v)
					}
				}
				b = l.Append(b, node{key: -1}, node{key: -2})
				fill(b[:cap(b)], node{key: -1})
			}
		}
		for i, p := range s {
			if p.key != i+1 {
				t.Fatalf("round %d: value %d holds %d", round, i, p.key)
			}
		}
		l.Reset()
	}
	testkit.NeedsExactAllocs(t)
	if n := testing.AllocsPerRun(20, func() {
		for range 1000 {
			l.New()
		}
		l.Reset()
	}); n != 0 {
		t.Errorf("%v allocs/op", n)
	}
}

// LaneOf returns the lane that New uses, over every Reset.
func TestLaneOf(t *testing.T) {
	a := arena.NewArena()
	l := arena.LaneOf[int](a)
	if arena.LaneOf[int](a) != l {
		t.Error("two lanes of one type")
	}
	for range 3 {
		p, q := l.New(), arena.New[int](a)
		if p == q || laneStats[int](t, a).Count != 2 {
			t.Error("New and Lane.New do not share the lane")
		}
		a.Reset()
	}
}

// The nil arena's lane makes each value an object of its own.
func TestLaneOfNil(t *testing.T) {
	l := arena.LaneOf[int](nil)
	p, q := l.New(), l.NewFrom(5)
	s := l.Append(l.MakeSlice(1, 4), 1, 2)
	l.Reset()
	if *p != 0 || *q != 5 || p == q || !slices.Equal(s, []int{0, 1, 2}) {
		t.Errorf("%d %d %v", *p, *q, s)
	}
	if r := l.New(); r == p || r == q {
		t.Error("Reset reused memory of the heap")
	}
	for _, n := range []int{0, 1, 100000} {
		if s := l.MakeSlice(0, n); s == nil || cap(s) != n {
			t.Errorf("capacity %d, want %d", cap(s), n)
		}
	}
}
