package memctx_test

import "github.com/haven-mem/haven/internal/escape"

// Tests say what contexts of a name keep for those that follow, so none of their
// releases is watched but where they ask for it.
func init() { escape.SampleEvery(0) }
