package pool_test

import (
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/stale"
)

// Tests say what a pool keeps, so none of their Puts is watched but where they ask
// for it, and in the check build what is put does not wait.
func init() {
	stale.SampleEvery(0)
	check.SetQuarantine(0)
}
