//go:build haven_check

package check_test

import (
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
)

// Verify reports a write once.
func TestVerifyOnce(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "once"})
	p := arena.New[int](a)
	a.Reset()
	*p = 1
	if check.Verify() == nil {
		t.Fatal("a write after Reset was not found")
	}
	if err := check.Verify(); err != nil {
		t.Errorf("found again: %v", err)
	}
}

// A slice that grows in place, or is copied, over what was written behind it tells of
// that before it is part of the slice.
func TestGrowthLooksAtRedZone(t *testing.T) {
	var got *check.Report
	check.Handle(func(r *check.Report) { got = r })
	defer check.Handle(nil)
	var a bump.Arena
	s := bump.MakeSlice[byte](&a, 5, 5)
	*(*byte)(unsafe.Add(unsafe.Pointer(&s[0]), 5)) = 1
	if s = bump.Append(&a, s, 2); got == nil || got.What != "overrun" {
		t.Errorf("%v, with %v", got, s)
	}
}
