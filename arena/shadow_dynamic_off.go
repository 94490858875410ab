//go:build !haven_check

package arena

import "github.com/haven-mem/haven/internal/check"

// A dynamicShadow is what the check build knows of a dynamic lane: here nothing.
type dynamicShadow struct{}

func (l *dynamicLane) begin() *check.Busy { return nil }
func (l *dynamicLane) noteNew()           {}
func (l *dynamicLane) retire(i, n int)    {}
func (l *dynamicLane) retireAll() bool    { return false }
func (l *dynamicLane) forgetFrom(n int)   {}
