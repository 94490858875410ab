package slab_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A localModel is a Local and what a naive model knows of it: the objects in use
// and what each should hold.
type localModel[T any] struct {
	t    testing.TB
	l    slab.Local[T]
	live []*T
	want []byte
	make func(x byte) T
	same func(a, b T) bool
}

// maxLive keeps programs fast.
const maxLive = 5000

func (m *localModel[T]) alloc(n int, x byte) {
	for range min(n, maxLive-len(m.live)) {
		p := m.l.Alloc()
		if !reflect.ValueOf(p).Elem().IsZero() {
			m.t.Fatalf("handed out %v", *p)
		}
		*p = m.make(x)
		m.live = append(m.live, p)
		m.want = append(m.want, x)
		x++
	}
}

// free frees n objects: those allocated first, last, or any.
func (m *localModel[T]) free(n int, order byte) {
	for range min(n, len(m.live)) {
		last := len(m.live) - 1
		i := last
		switch order % 3 {
		case 1:
			i = 0
		case 2:
			i = (n*7919 + int(order)) % len(m.live)
			n--
		}
		if !m.same(*m.live[i], m.make(m.want[i])) {
			m.t.Fatalf("object %d of %d holds %v, want %v", i, len(m.live), *m.live[i], m.make(m.want[i]))
		}
		m.l.Free(m.live[i])
		m.live[i], m.want[i] = m.live[last], m.want[last]
		m.live[last] = nil
		m.live, m.want = m.live[:last], m.want[:last]
	}
}

// mistake frees a pointer that is no object in use. If that is not reported at
// once it is by Trim, and either way the Local is as before.
func (m *localModel[T]) mistake(p *T) {
	if sanitize.Poisons {
		return // which ends the program
	}
	if reflect.TypeFor[T]().Size() == 0 || m.l.Stats() == new(slab.Local[T]).Stats() {
		return // cannot be told apart; an error of the runtime
	}
	var texts []any
	for _, f := range []func(){func() { m.l.Free(p) }, func() { m.l.Trim() }} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					texts = append(texts, r)
				}
			}()
			f()
		}()
	}
	if r, ok := texts[0].(*check.Report); ok && len(texts) == 1 && strings.Contains(r.What, "free") {
		return // in the check build
	}
	if len(texts) != 1 || texts[0] != any(secondFree(p)) && texts[0] != any(foreignFree(p)) {
		m.t.Fatalf("a mistaken Free of %p panics with %q", p, texts)
	}
}

func (m *localModel[T]) check() {
	s := checkLocal(m.t, &m.l)
	if s.InUse != len(m.live) {
		m.t.Fatalf("want %d objects in use: %v", len(m.live), s)
	}
}

func (m *localModel[T]) run(program []byte) {
	next := func() byte {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return b
	}
	for len(program) > 0 {
		switch op := next(); op % 8 {
		case 0, 1:
			m.alloc(int(next()%8), next())
		case 2:
			m.alloc(int(next())*8, next())
		case 3, 4:
			m.free(int(next()%8), next())
		case 5:
			m.free(int(next())*8, next())
		case 6:
			before := checkLocal(m.t, &m.l).Bytes
			if n := m.l.Trim(); n != before-checkLocal(m.t, &m.l).Bytes {
				m.t.Fatalf("Trim returned %d of %d bytes: %v", n, before, m.l.Stats())
			}
			if s := m.l.Stats(); s.Cached != 0 || s.InUse == 0 && s.Bytes != 0 {
				m.t.Fatalf("after Trim: %v", s)
			}
		case 7:
			switch i := int(next()); {
			case i%4 == 0:
				m.mistake(new(T))
			case i%4 == 1 && len(m.live) > 0: // an object that is free already
				p := m.live[len(m.live)-1]
				m.free(1, 0)
				m.mistake(p)
			}
		}
		m.check()
	}
	m.free(len(m.live), 1)
	m.check()
	if m.l.Trim(); m.l.Stats().Bytes != 0 {
		m.t.Fatalf("nothing is in use: %v", &m.l)
	}
}

func equal[T comparable](a, b T) bool { return a == b }

// runLocal runs a program on Locals of several types.
func runLocal(t testing.TB, program []byte) {
	(&localModel[byte]{t: t, make: func(x byte) byte { return x }, same: equal[byte]}).run(program)
	(&localModel[struct{}]{t: t, make: func(x byte) (z struct{}) { return }, same: equal[struct{}]}).run(program)
	(&localModel[employee]{t: t,
		make: func(x byte) employee { return employee{name: fmt.Sprint(x), boss: &employee{number: int(x)}} },
		same: func(a, b employee) bool { return a.name == b.name && a.boss.number == b.boss.number },
	}).run(program)
	(&localModel[[100]uint64]{t: t,
		make: func(x byte) [100]uint64 { return [100]uint64{0: 1, 99: uint64(x)} }, same: equal[[100]uint64],
	}).run(program)
}

// seedsOfLocal are programs for what is rare at random.
var seedsOfLocal = [][]byte{
	{0, 1, 1, 7, 1, 6}, // the only object is freed twice
	{2, 255, 1, 5, 255, 1, 7, 0, 2, 255, 0, 5, 100, 2},               // a full magazine, and a foreign pointer in it
	{2, 200, 1, 2, 200, 1, 5, 250, 2, 6, 5, 100, 0, 6},               // most slabs stay sparse
	{2, 128, 1, 5, 128, 0, 0, 1, 0, 3, 1, 0, 0, 1, 0},                // at the border of the magazine
	{2, 255, 9, 2, 255, 9, 2, 255, 9, 5, 255, 1, 6, 2, 255, 3, 7, 1}, // slabs dropped and added again
}

func FuzzLocal(f *testing.F) {
	for _, s := range seedsOfLocal {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) <= 500 {
			runLocal(t, program)
		}
	})
}

// The deterministic run of the fuzz test: random programs, the same each time,
// while garbage is collected.
func TestLocalRandomPrograms(t *testing.T) {
	n := 150
	if testing.Short() {
		n = 20
	}
	defer testkit.Hammer()()
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 3))
		program := make([]byte, rng.IntN(120))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runLocal(t, program)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
