//go:build !haven_check

package check_test

import (
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
)

// In the default build nothing is found.
func TestDefaultBuild(t *testing.T) {
	testkit.NeedsReuse(t)
	a := arena.NewArena()
	p := arena.New[int](a)
	a.Reset()
	*p = 1
	if err := check.Verify(); err != nil || check.Enabled {
		t.Errorf("enabled %v, error %v", check.Enabled, err)
	}
}
