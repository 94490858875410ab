package workload_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/haven-mem/haven/internal/check"
)

// TestMain leaves the check build out: these programs are there to be measured, and
// with poison and stacks for each of millions of objects they take many minutes.
func TestMain(m *testing.M) {
	if check.Enabled {
		fmt.Println("workloads are not for the check build")
		return
	}
	os.Exit(m.Run())
}
