package pool_test

import "github.com/haven-mem/haven/internal/escape"

// Tests say what a pool keeps, so none of their Puts is watched but where they ask
// for it.
func init() { escape.SampleEvery(0) }
