package pool_test

import (
	"math/rand/v2"
	"testing"
)

// seeds are programs that reach what is rare at random.
var seeds = []program{
	{3, 129, 3, 129, 8, 129, 8, 129, 13, 3, 129},                   // through the depot
	{3, 60, 8, 60, 10, 1, 10, 1, 10, 1, 10, 1, 0, 0},               // trimmed
	{3, 60, 8, 60, 11, 11, 11, 11, 11, 11, 11, 0},                  // by the timer
	{3, 100, 14, 8, 50, 14, 8, 30, 12, 0, 14, 0, 0},                // callbacks that panic
	{15, 4, 3, 100, 8, 100, 15, 0, 3, 100, 8, 100, 15, 3, 8, 9, 0}, // other Ps
	{9, 30, 30, 9, 200, 14, 9, 64, 1, 12, 0, 64, 0, 80, 13, 0},     // slices from elsewhere
	{3, 255, 255, 3, 200, 100, 8, 2, 10, 0, 10, 0, 10, 0, 4, 99},   // buffers of many sizes
}

// FuzzPool runs programs of operations on pools of all kinds, beside a model.
func FuzzPool(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	varyProcs(f)
	f.Fuzz(func(t *testing.T, prog []byte) {
		if len(prog) > 1000 {
			return
		}
		for i := range poolConfigs {
			newPoolModel(t, i).run(prog)
		}
	})
}

// FuzzBytes does the same for buffers.
func FuzzBytes(f *testing.F) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, prog []byte) {
		if len(prog) > 1000 {
			return
		}
		for i := range bytesConfigs {
			newBytesModel(t, i).run(prog)
		}
	})
}

// The deterministic run of the fuzz tests: random programs, the same each time.
func TestRandomPrograms(t *testing.T) {
	varyProcs(t)
	n := uint64(150)
	if testing.Short() {
		n = 20
	}
	random := func(seed uint64) program {
		rng := rand.New(rand.NewPCG(seed, 78))
		prog := make(program, 20+rng.IntN(300))
		for i := range prog {
			prog[i] = byte(rng.Uint32())
		}
		return prog
	}
	for i, c := range poolConfigs {
		t.Run("Pool "+c.name, func(t *testing.T) {
			for seed := range n {
				newPoolModel(t, i).run(random(seed))
			}
		})
	}
	for i, c := range bytesConfigs {
		t.Run("Bytes "+c.name, func(t *testing.T) {
			for seed := range n {
				newBytesModel(t, i).run(random(seed))
			}
		})
	}
}
