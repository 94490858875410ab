package workload_test

import "github.com/haven-mem/haven/internal/stale"

// A release that is watched makes its owner allocate anew, and these tests count
// allocations, so nothing is watched.
func init() { stale.SampleEvery(0) }
