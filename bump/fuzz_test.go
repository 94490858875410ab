package bump_test

import (
	"math/rand/v2"
	"testing"

	"github.com/haven-mem/haven/bump"
)

func FuzzArena(f *testing.F) {
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, program []byte) { runArenaProgram(program) })
}

func FuzzFixed(f *testing.F) {
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, program []byte) { runFixedProgram(program) })
}

// randomProgram returns n bytes; the same for the same seed.
func randomProgram(seed uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, 7))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// TestRandomPrograms runs what the fuzz tests run, from seeds.
func TestRandomPrograms(t *testing.T) {
	n := uint64(600)
	if testing.Short() {
		n = 100
	}
	seed := uint64(0)
	defer func() {
		if v := recover(); v != nil {
			t.Fatalf("seed %d: %v", seed, v)
		}
	}()
	for ; seed < n; seed++ {
		runArenaProgram(randomProgram(seed, 100+int(seed%20)*100))
		runFixedProgram(randomProgram(seed, 500))
	}
}

// runFixedProgram runs a program of allocations on a Fixed and predicts every
// address and every refusal.
func runFixedProgram(program []byte) {
	if len(program) < 2 {
		return
	}
	size := uintptr(program[0]) | uintptr(program[1]&31)<<8
	f := bump.NewFixed(int(size))
	m := &model{a: new(bump.Arena), program: program[2:]}
	base, off, high := uintptr(bump.FixedBase(f)), uintptr(0), uintptr(0)
	for op := 0; op < maxOps && len(m.program) > 0; op++ {
		if b := m.byte(); b%32 == 0 {
			f.Reset()
			off, m.records = 0, nil
			continue
		}
		n, align := m.size()/8, uintptr(1)<<(m.byte()%13)
		p, err := f.TryAlloc(n, align)
		start := (base + off + align - 1) &^ (align - 1)
		fits := size > 0 && start-base <= size && n <= size-(start-base)
		if fits != (err == nil) || err != nil && (err != bump.ErrExhausted || p != nil) {
			m.fail("%d bytes aligned to %d at %d of %d: %p, %v", n, align, off, size, p, err)
		}
		if err == nil {
			if uintptr(p)%align != 0 || n > 0 && uintptr(p) != start && bump.Zone == 0 || !isZero(bytesAt(p, n)) {
				m.fail("%d bytes aligned to %d at %d: %p is %v", n, align, off, p, bytesAt(p, n))
			}
			r := &record{what: "TryAlloc", p: p, want: make([]byte, n)}
			m.apart(r)
			r.want = m.put(r.bytes())
			m.records = append(m.records, r)
			off = start - base + n
			high = max(high, off)
		}
		s := f.Stats()
		if want := (bump.Stats{InUse: int(off), Reserved: int(size), Idle: int(size - off), HighWater: int(high), Chunks: s.Chunks}); s != want {
			m.fail("stats %v, want %v", s, want)
		}
		for _, r := range m.records {
			if string(r.bytes()) != string(r.want) {
				m.fail("contents changed: got %v, want %v", r.bytes(), r.want)
			}
		}
	}
}
