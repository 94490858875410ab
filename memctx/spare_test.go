package memctx_test

import (
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

// TestSpare ends contexts of which a text is read after that. The memory of the one
// that has it is not used again, and is not taken from the limit any more; what the
// other has is warm.
func TestSpare(t *testing.T) {
	for _, where := range []string{"above", "below", "nowhere"} {
		names := map[string]string{"above": freshName("above"), "below": freshName("below")}
		root := memctx.New("root", memctx.Config{Limit: 1 << 20})
		above := root.Child(names["above"])
		below := above.Child(names["below"])
		texts := map[string]string{"nowhere": "constant"}
		for name, c := range map[string]*memctx.Context{"above": above, "below": below} {
			texts[name] = arena.String(c.Arena(), "text "+name)
		}
		ran := false
		above.OnReset(func() { ran = true })
		above.Retain()
		scope.Spare(above, []string{"", "another", texts[where]})
		checkAll(t, root)
		scope.Delete(above)
		for name, full := range names {
			n, idle := namesOf(t, full), 1
			if name == where {
				idle = 0
			}
			if n.Warm.Idle != idle || n.Deleted != 1 {
				t.Errorf("with a text of %s, %s: %v", where, name, n)
			}
			mc := memctx.New(full)
			arena.String(mc.Arena(), "foreign text")
			mc.Delete()
		}
		if want := "text " + where; where != "nowhere" && texts[where] != want {
			t.Errorf("the text of %s is %q", where, texts[where])
		}
		if !ran || memctx.Taken(root) != 0 {
			t.Errorf("with a text of %s: callbacks ran: %v, %d bytes are taken", where, ran, memctx.Taken(root))
		}
		checkAll(t, root, above, below)
		root.Delete()
	}
	check.VerifyNone(t)
}

// TestSpareOverReset resets a context of which a text is read after that.
func TestSpareOverReset(t *testing.T) {
	above := memctx.New("above")
	below := above.Child("below")
	above.Retain()
	text := arena.String(below.Arena(), "text")
	scope.Spare(above, []string{text})
	for range 3 {
		above.ResetChildren()
		arena.String(below.Arena(), "foreign text")
	}
	if text != "text" {
		t.Errorf("the text is %q", text)
	}
	// Once is enough: the memory is another by now.
	if above.ResetChildren(); below.Stats().Own.Bytes == 0 {
		t.Error("memory that has none of the texts was left to the garbage collector")
	}
	scope.Delete(above)
	check.VerifyNone(t)
}
