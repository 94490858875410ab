package slab_test

import watch "github.com/haven-mem/haven/internal/stale"

// What slabs a test gives back is watched where it asks for it, and nowhere else.
func init() { watch.SampleEvery(0) }
