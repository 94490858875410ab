package magazine_test

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
)

// onOneP runs the rest of a test on a single P, whose number is 0.
func onOneP(t testing.TB) {
	old := runtime.GOMAXPROCS(1)
	t.Cleanup(func() { runtime.GOMAXPROCS(old) })
}

// cell returns the first cell of s, on the only P.
func cell(s *magazine.Set) *magazine.Cell {
	for {
		magazine.Enter()
		if t := s.Table(); t != nil {
			if c := t.Cell(0); !c.Gone() {
				return c
			} else {
				c.Leave()
			}
		} else {
			magazine.Exit()
		}
		s.Open()
	}
}

// A new cell has nothing to give and takes nothing, however often it is asked.
func TestNewCell(t *testing.T) {
	onOneP(t)
	var s magazine.Set
	p := unsafe.Pointer(new(object))
	for range 3 {
		c := cell(&s)
		var dst [2]unsafe.Pointer
		canPop, canPush := c.CanPop(), c.CanPush()
		prev, pushed := c.PopPrev(), c.PushPrev(p)
		popN, pushN := c.PopN(dst[:]), c.PushN([]unsafe.Pointer{p})
		costed, pushedCosted := c.PopCosted(), c.PushCosted(p, 0)
		c.Leave()
		if canPop || canPush || prev != nil || pushed || popN != 0 || pushN != 0 || costed != nil || pushedCosted {
			t.Errorf("can pop %v, can push %v, popped %v, pushed %v, %d popped, %d pushed, costed %v, %v", canPop, canPush, prev, pushed, popN, pushN, costed, pushedCosted)
		}
	}
	other := magazine.Set{}
	m := magazine.New(1)
	c := cell(&other)
	first := c.Install(m)
	second := c.Install(magazine.New(1))
	third := c.Install(magazine.New(1))
	c.Leave()
	if first != nil || second != nil || third != m {
		t.Errorf("Install returned %p, %p, %p, want nil, nil, %p", first, second, third, m)
	}
}

// A stackModel is one of the two magazines of a cell, and what was counted in it.
type stackModel struct {
	m            *magazine.Magazine
	objs         []unsafe.Pointer
	costs        []uint
	pops, pushes uint
}

func (s *stackModel) push(p unsafe.Pointer, cost uint) {
	s.objs, s.costs = append(s.objs, p), append(s.costs, cost)
	s.pushes++
}

func (s *stackModel) pop() unsafe.Pointer {
	n := len(s.objs) - 1
	p := s.objs[n]
	s.objs, s.costs = s.objs[:n], s.costs[:n]
	s.pops++
	return p
}

func (s *stackModel) bytes() (n uint) {
	for _, c := range s.costs {
		n += c
	}
	return n
}

func (s *stackModel) roomFor(cost uint) bool {
	return len(s.objs) < s.m.Limit() && s.bytes()+cost <= s.m.MaxBytes()
}

// check compares a magazine that has left the cell with what it should be.
func (s *stackModel) check(t *testing.T, m *magazine.Magazine, costed bool) {
	t.Helper()
	if m != s.m {
		t.Fatalf("magazine %p left the cell, want %p", m, s.m)
	}
	if m == nil {
		return
	}
	if !slices.Equal(m.Objects(), s.objs) {
		t.Fatalf("magazine holds %v, want %v", m.Objects(), s.objs)
	}
	if costed && (!slices.Equal(m.Costs(), s.costs) || uint(m.PeekBytes()) != s.bytes()) {
		t.Fatalf("costs %v, together %d, want %v", m.Costs(), m.PeekBytes(), s.costs)
	}
	if pops, pushes := m.Counts(); pops != s.pops || pushes != s.pushes {
		t.Fatalf("counted %d pops and %d pushes, want %d and %d", pops, pushes, s.pops, s.pushes)
	}
}

// Random programs on a cell do what they do on two stacks.
func TestCellAgainstModel(t *testing.T) {
	for _, limit := range []int{1, 2, 57} {
		testCell(t, limit, false)
		testCell(t, limit, true)
	}
}

func testCell(t *testing.T, limit int, costed bool) {
	onOneP(t)
	var s magazine.Set
	cur, prev := &stackModel{}, &stackModel{}
	fresh := func() *magazine.Magazine {
		if costed {
			return magazine.NewCosted(limit, 100)
		}
		return magazine.New(limit)
	}
	install := func(m *magazine.Magazine, next *stackModel) {
		c := cell(&s)
		out := c.Install(m)
		c.Leave()
		prev.check(t, out, costed)
		cur, prev = next, cur
	}
	for range 2 {
		m := fresh()
		install(m, &stackModel{m: m})
	}
	swap := func() { cur, prev = prev, cur }
	ops := 20_000
	if testing.Short() {
		ops = 2000
	}
	for i := range ops {
		p := unsafe.Pointer(&object{n: i})
		cost := uint(rand.IntN(30))
		push := rand.IntN(2) == 0
		switch op := rand.IntN(12); {
		case op == 0: // the previous magazine is exchanged for one with some objects
			m, next := fresh(), &stackModel{}
			next.m = m
			for _, p := range objects(rand.IntN(limit + 1)) {
				if costed {
					if !next.roomFor(10) {
						break
					}
					m.AddCosted(p, 10)
				} else {
					m.Add(p)
				}
				next.objs, next.costs = append(next.objs, p), append(next.costs, 10)
			}
			install(m, next)
		case costed && push:
			c := cell(&s)
			ok := c.PushCosted(p, cost)
			c.Leave()
			want := true
			if cur.roomFor(cost) {
				cur.push(p, cost)
			} else if want = prev.roomFor(cost); want {
				swap()
				cur.push(p, cost)
			}
			if ok != want {
				t.Fatalf("PushCosted of %d bytes %v, want %v", cost, ok, want)
			}
		case costed:
			c := cell(&s)
			got := c.PopCosted()
			c.Leave()
			var want unsafe.Pointer
			if len(cur.objs) == 0 && len(prev.objs) > 0 {
				swap()
			}
			if len(cur.objs) > 0 {
				want = cur.pop()
			}
			if got != want {
				t.Fatalf("PopCosted %v, want %v", got, want)
			}
		case op == 1: // several
			src := objects(rand.IntN(2 * limit))
			c := cell(&s)
			n := c.PushN(src)
			c.Leave()
			if want := min(len(src), limit-len(cur.objs)); n != want {
				t.Fatalf("PushN of %d objects: %d, want %d", len(src), n, want)
			}
			for _, p := range src[:n] {
				cur.push(p, 0)
			}
		case op == 2:
			dst := make([]unsafe.Pointer, rand.IntN(2*limit))
			c := cell(&s)
			n := c.PopN(dst)
			c.Leave()
			if want := min(len(dst), len(cur.objs)); n != want {
				t.Fatalf("PopN of %d objects: %d, want %d", len(dst), n, want)
			}
			for _, p := range dst[:n] {
				if want := cur.pop(); p != want {
					t.Fatalf("PopN %v, want %v", p, want)
				}
			}
		case push:
			c := cell(&s)
			can := c.CanPush()
			ok := can
			if can {
				c.Push(p)
			} else {
				ok = c.PushPrev(p)
			}
			c.Leave()
			if can != (len(cur.objs) < limit) {
				t.Fatalf("CanPush %v with %d of %d", can, len(cur.objs), limit)
			}
			if !can {
				if ok != (len(prev.objs) < limit) {
					t.Fatalf("PushPrev %v with %d of %d", ok, len(prev.objs), limit)
				}
				if ok {
					swap()
				}
			}
			if ok {
				cur.push(p, 0)
			}
		default:
			c := cell(&s)
			can := c.CanPop()
			var got, want unsafe.Pointer
			if can {
				got = c.Pop()
			} else {
				got = c.PopPrev()
			}
			c.Leave()
			if can != (len(cur.objs) > 0) {
				t.Fatalf("CanPop %v with %d", can, len(cur.objs))
			}
			if !can && len(prev.objs) > 0 {
				swap()
			}
			if len(cur.objs) > 0 {
				want = cur.pop()
			}
			if got != want {
				t.Fatalf("popped %v, want %v", got, want)
			}
		}
	}
	for range 2 {
		install(fresh(), &stackModel{})
	}
}
