package outside_test

import (
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/outside"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestWorld(t *testing.T) {
	did := false
	outside.Do(func() { did = true })
	if !did {
		t.Error("not done when Do returns")
	}
	came := make(chan bool)
	outside.After(time.Nanosecond, func() { came <- true })
	testkit.Receive(t, "After", came)
}
