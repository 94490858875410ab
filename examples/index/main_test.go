package main

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func Example() {
	main()
	// Output:
	// rose [0 2]
	// lily [1]
	// is [0 1 2]
	// tulip []
	// the arena adds up: true
}

// TestIndexOutlivesArena builds an index of many chunks, drops the Arena, and
// looks every word up after collections.
func TestIndexOutlivesArena(t *testing.T) {
	const n = 5000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d common\n", i)
	}
	x, stats := build(b.String())
	if stats.Chunks < 2 {
		t.Fatalf("%d chunks; the test needs several", stats.Chunks)
	}
	for range 3 {
		runtime.GC()
	}
	for i := range n {
		if got := x.Lines(fmt.Sprintf("word%d", i)); len(got) != 1 || got[0] != int32(i) {
			t.Fatalf("word%d is in lines %v, want %d", i, got, i)
		}
	}
	if got := x.Lines("common"); len(got) != n {
		t.Errorf("the common word is in %d lines, want %d", len(got), n)
	}
}
