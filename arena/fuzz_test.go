package arena_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/haven-mem/haven/arena"
)

// wide has pointers at both ends and is larger than a small first chunk.
type wide struct {
	next *wide
	pad  [70]uint64
	text string
}

// kinds are the types that programs use.
var kinds = []interface {
	value(m *model, x byte)
	slice(m *model, x byte, n, spare int)
	reset(m *model)
}{
	cell[byte]{func(x byte) byte { return x }, equal[byte]},
	cell[int64]{func(x byte) int64 { return int64(x) << 40 }, equal[int64]},
	cell[string]{func(x byte) string { return fmt.Sprint("heap string ", x) }, equal[string]},
	cell[*int]{func(x byte) *int { v := int(x); return &v }, func(a, b *int) bool { return *a == *b }},
	cell[any]{func(x byte) any { return []any{int(x), "text", float64(x), nil}[x%4] }, equal[any]},
	cell[[3]uint16]{func(x byte) [3]uint16 { return [3]uint16{uint16(x), 1, uint16(x)} }, equal[[3]uint16]},
	cell[struct{}]{func(x byte) struct{} { return struct{}{} }, equal[struct{}]},
	cell[map[byte]bool]{func(x byte) map[byte]bool { return map[byte]bool{x: true} }, func(a, b map[byte]bool) bool { return maps.Equal(a, b) }},
	cell[wide]{
		func(x byte) wide { return wide{&wide{text: "next"}, [70]uint64{0: uint64(x), 69: 1}, "text"} },
		func(a, b wide) bool {
			return a.next.text == b.next.text && a.pad == b.pad && a.text == b.text
		},
	},
}

func equal[T comparable](a, b T) bool { return a == b }

// configs are the arenas that each program runs on: as they come, and with
// crippled internals.
var configs = []struct {
	name string
	conf arena.Config
}{
	{"default", arena.Config{}},
	{"small chunks", arena.Config{FirstChunk: 1, MaxChunk: 1}},
	{"tight limit", arena.Config{Limit: 12000, MaxChunk: 2000}},
	{"tiny limit", arena.Config{Limit: 700}},
	{"retain nothing", arena.Config{Retain: -1, FirstChunk: 4000}},
	{"retain little", arena.Config{Retain: 2000, MaxChunk: 1}},
}

// maxThings keeps programs, whose checks are quadratic, fast.
const maxThings = 150

// run runs a program: an operation, and as many operands as it needs, from each
// few bytes.
func (m *model) run(program []byte) {
	next := func() byte {
		if len(program) == 0 {
			return 0
		}
		b := program[0]
		program = program[1:]
		return b
	}
	for len(program) > 0 {
		m.step++
		op := next() % 20
		if len(m.things) >= maxThings {
			op = 13 // Reset
		}
		k := kinds[int(next())%len(kinds)]
		switch op {
		case 0, 1, 2, 3:
			m.op = "value"
			n := next()
			for range n%7 + 1 {
				k.value(m, n)
			}
		case 4, 5:
			m.op = "slice"
			k.slice(m, next(), int(next()%40), int(next()%20))
		case 6:
			m.op = "large slice"
			k.slice(m, next(), int(next())*2, int(next())*4)
		case 7, 8, 9:
			m.op = "Append"
			// The last ones, of which one is the last of its lane, or any.
			if i := int(next()); len(m.things) > 0 {
				if i%2 == 0 {
					i = len(m.things) - 1 - i/2%min(4, len(m.things))
				}
				if th := m.things[i%len(m.things)]; th.append != nil {
					th.append(next(), int(next()%30))
				}
			}
		case 10:
			m.op = "String"
			m.str(next(), int(next()))
		case 11:
			m.op = "Mark"
			m.marks = append(m.marks, markModel{m.a.Mark(), len(m.things), m.due})
		case 12, 19:
			m.op = "Release"
			if n := len(m.marks); n > 0 {
				m.check()
				top := m.marks[n-1]
				m.marks = m.marks[:n-1]
				m.endScope(top.things, top.due)
				m.a.Release(top.mark)
			}
		case 13:
			m.op = "Reset"
			m.check()
			m.end()
			m.a.Reset()
		case 14:
			m.op = "Trim"
			m.a.Trim(int(next()) * 16)
		case 15:
			m.op = "Free"
			m.check()
			m.orphan = append(m.orphan, m.things[:min(len(m.things), 30)]...)
			m.orphan = m.orphan[max(0, len(m.orphan)-60):]
			m.end()
			m.a.Free()
			m.a = arena.NewArena(m.conf)
			m.resets, m.high = 0, 0
		case 16:
			m.op = "OnReset"
			m.due++
			m.a.OnReset(func() { m.ran-- })
		case 17:
			m.op = "write"
			if len(m.things) > 0 {
				m.things[int(next())%len(m.things)].touch(next())
			}
		case 18:
			if next()%2 == 0 {
				m.op = "Lane.Reset"
				m.checkStats() // the peak is taken note of
				k.reset(m)
				break
			}
			m.op = "Put and Get"
			m.check()
			m.end()
			a := m.a
			m.pool.Put(a)
			if m.a = m.pool.Get(); m.a != a {
				m.failf("the pool returned another arena")
			}
		}
		m.checkStats()
	}
	m.check()
}

// end ends all there is.
func (m *model) end() {
	m.endScope(0, 0)
	m.marks = m.marks[:0]
	m.resets++
}

// FuzzArena starts from testdata/fuzz/FuzzArena: short programs for what is rare
// at random, and those that fuzzing found to take ways of their own.
func FuzzArena(f *testing.F) {
	f.Fuzz(func(t *testing.T, program []byte) {
		if len(program) > 2000 {
			return
		}
		for _, c := range configs {
			newModel(t, c.conf).run(program)
		}
	})
}

// The deterministic run of the fuzz test: random programs, the same each time.
func TestRandomPrograms(t *testing.T) {
	n := 3000
	if testing.Short() {
		n = 300
	}
	for _, c := range configs {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(n / len(configs)) {
				rng := rand.New(rand.NewPCG(seed, 77))
				program := make([]byte, 50+rng.IntN(500))
				for i := range program {
					program[i] = byte(rng.Uint32())
				}
				newModel(t, c.conf).run(program)
				if t.Failed() {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}
