package compiled_test

import (
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/compiled/callsite"
	"github.com/haven-mem/haven/internal/testkit"
)

// TestPushAllocatesNothing calls a method of another package that appends one value. With
// Append in its place the method is inlined here, where nobody else appends such values, and
// the compiler takes the slice of the one value for one that Append keeps.
func TestPushAllocatesNothing(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	kid := new(callsite.Tree)
	tree := &callsite.Tree{Mem: arena.NewArena(arena.Config{FirstChunk: 1 << 16})}
	tree.Push(kid)
	if n := testing.AllocsPerRun(100, func() { tree.Push(kid) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
