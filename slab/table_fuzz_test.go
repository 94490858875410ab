package slab_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// The model of a table is a map. It knows nothing of slots and generations.

// An entry is an element of the model.
type entry struct {
	p      *folder // where it lies
	number int
}

type tableModel struct {
	t        testing.TB
	table    *slab.Table[folder]
	other    slab.Table[folder]
	capacity int
	in       map[slab.Handle[folder]]entry
	handles  []slab.Handle[folder]        // of in, in an order that programs can choose from
	stale    map[slab.Handle[folder]]bool // all that were removed, for ever
	old      []slab.Handle[folder]        // the keys of stale
	number   int
}

func (m *tableModel) insert(n int) {
	for range n {
		m.number++
		name := fmt.Sprint(m.number)
		h, p, err := m.table.TryInsert(folder{number: m.number, name: &name})
		if (err != nil) != (m.capacity > 0 && len(m.in) >= m.capacity) || err != nil && !errors.Is(err, slab.ErrExhausted) {
			m.t.Fatalf("%d elements, capacity %d: %v", len(m.in), m.capacity, err)
		}
		if err != nil {
			return
		}
		if _, ok := m.in[h]; ok || m.stale[h] {
			m.t.Fatalf("handle %v came before", h)
		}
		m.in[h] = entry{p, m.number}
		m.handles = append(m.handles, h)
	}
}

// remove removes the element of handle i.
func (m *tableModel) remove(i int) {
	h := m.handles[i]
	if !m.table.Remove(h) {
		m.t.Fatalf("%v is not there", h)
	}
	m.gone(i)
}

// gone removes handle i from the model.
func (m *tableModel) gone(i int) {
	h := m.handles[i]
	delete(m.in, h)
	m.stale[h] = true
	m.old = append(m.old, h)
	last := len(m.handles) - 1
	m.handles[i] = m.handles[last]
	m.handles = m.handles[:last]
}

func (m *tableModel) check() {
	s := checkTable(m.t, m.table)
	if s.InUse != len(m.in) {
		m.t.Fatalf("want %d elements: %v", len(m.in), s)
	}
	for h, e := range m.in {
		if p, ok := m.table.Get(h); !ok || p != e.p || p.number != e.number || *p.name != fmt.Sprint(e.number) {
			m.t.Fatalf("%v: %v at %p, %t, want %d at %p", h, p, p, ok, e.number, e.p)
		}
	}
	for h := range m.stale {
		if _, ok := m.table.Get(h); ok {
			m.t.Fatalf("the stale handle %v matches", h)
		}
	}
}

// all iterates, and calls each for every element.
func (m *tableModel) all(each func(i int)) {
	before := map[slab.Handle[folder]]bool{}
	for h := range m.in {
		before[h] = true
	}
	for h, p := range m.table.All() {
		e, ok := m.in[h]
		if !ok || e.p != p {
			m.t.Fatalf("visited %v, which is not there", h)
		}
		delete(before, h)
		for i := range m.handles { // where it is in the list
			if m.handles[i] == h {
				each(i)
				break
			}
		}
	}
	for h := range before {
		if _, ok := m.in[h]; ok {
			m.t.Fatalf("%v was not visited", h)
		}
	}
}

func (m *tableModel) run(program []byte) {
	next := func() int {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return int(b)
	}
	for len(program) > 0 {
		switch op := next(); op % 10 {
		case 0, 1:
			m.insert(next() % 8)
		case 2:
			if len(m.in) < 500 {
				m.insert(next())
			}
		case 3, 4:
			for range next() % 8 {
				if len(m.handles) > 0 {
					m.remove(next() * 7919 % len(m.handles))
				}
			}
		case 5:
			for range min(next(), len(m.handles)) {
				m.remove(len(m.handles) / 2)
			}
		case 6: // what is stale stays refused
			if len(m.old) > 0 && m.table.Remove(m.old[next()%len(m.old)]) {
				m.t.Fatal("removed a stale element")
			}
		case 7:
			from := next() % 4
			m.all(func(i int) {
				switch from {
				case 0:
					m.remove(i)
				case 1:
					if len(m.in) < 500 {
						m.insert(1)
					}
				case 2:
					m.remove(next() % len(m.handles))
				}
			})
		case 8: // a slot near its end
			if len(m.handles) > 0 {
				i := next() % len(m.handles)
				h := m.handles[i]
				e := m.in[h]
				if slab.LivesOf(m.table, h) <= 3 {
					break // it is old already
				}
				aged := slab.Age(m.table, h, uint32(next()%3+1))
				m.gone(i)
				m.in[aged] = e
				m.handles = append(m.handles, aged)
			}
		case 9:
			h, _ := m.other.Insert(folder{})
			if _, ok := m.table.Get(h); ok || m.table.Remove(h) {
				m.t.Fatalf("%v of another table is taken", h)
			}
		}
		m.check()
	}
}

// runTable runs a program on tables of several kinds.
func runTable(t testing.TB, program []byte) {
	for _, start := range []uint32{0, 1<<32 - 2, 1 << 20} {
		for _, capacity := range []int{0, 5, 300} {
			m := &tableModel{
				t: t, capacity: capacity,
				table: slab.TableFrom[folder](start, slab.TableConfig{Capacity: capacity}),
				in:    map[slab.Handle[folder]]entry{},
				stale: map[slab.Handle[folder]]bool{},
			}
			m.run(program)
		}
	}
}

// seedsOfTable are programs for what is rare at random.
var seedsOfTable = [][]byte{
	{0, 1, 8, 0, 0, 3, 1, 0, 0, 1, 7, 0},               // the only slot is retired
	{2, 255, 5, 255, 2, 255, 7, 0, 2, 200, 7, 1},       // slots used again, inserted while visited
	{0, 5, 8, 1, 1, 3, 2, 0, 0, 0, 5, 8, 2, 2, 5, 255}, // a full table with retired slots
	{2, 100, 7, 2, 1, 2, 3, 4, 5, 6, 7, 8, 9, 6, 0},    // others removed while visited
}

func FuzzTable(f *testing.F) {
	for _, s := range seedsOfTable {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) <= 300 {
			runTable(t, program)
		}
	})
}

// The deterministic run of the fuzz test: random programs, the same each time,
// while garbage is collected.
func TestTableRandomPrograms(t *testing.T) {
	n := 40
	if testing.Short() {
		n = 8
	}
	defer testkit.Hammer()()
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 5))
		program := make([]byte, rng.IntN(80))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		runTable(t, program)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}
