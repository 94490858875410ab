package stale_test

import "github.com/haven-mem/haven/internal/stale"

// Nothing is watched but what a test asks for.
func init() { stale.SampleEvery(0) }
