package bump_test

import (
	"math/rand/v2"
	"testing"
)

func FuzzArena(f *testing.F) {
	f.Add([]byte(nil))
	f.Fuzz(func(t *testing.T, program []byte) { runArenaProgram(program) })
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
	}
}
