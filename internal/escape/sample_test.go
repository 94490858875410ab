package escape_test

import "github.com/haven-mem/haven/internal/escape"

// Nothing is watched but what a test asks for.
func init() { escape.SampleEvery(0) }
