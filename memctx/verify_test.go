package memctx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// verify returns what VerifyNone says.
func verify() string {
	v := new(verdict)
	check.VerifyNone(v)
	return v.text
}

func TestVerifyNone(t *testing.T) {
	testkit.CollectGarbage() // what other tests dropped
	if text := verify(); text != "" {
		t.Fatalf("without a context: %s", text)
	}
	sampled(t)
	server, line := memctx.New("server"), here(0)
	conn := server.Child("conn", memctx.Config{Ident: "1"})
	arena.MakeSlice[byte](conn.Arena(), 0, 5000)
	text := verify()
	for _, want := range []string{
		"haven: 2 open contexts:\nserver: 0 bytes in 0 chunks, ", " with 1 context below, ", "\nserver/conn[1]: ",
		"\nserver was made at\n", "\nserver/conn[1] was made at\n", "TestVerifyNone(...)\n\t" + line,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	conn.Retain()
	server.Delete()
	if text := verify(); !strings.HasPrefix(text, "haven: 2 open contexts:\n") || !strings.Contains(text, "1 lease, deleted") {
		t.Errorf("held: %s", text)
	}
	conn.Release()
	left := memctx.New("left")
	left.Child("left")
	left.Abandon()
	if text := verify(); text != "" {
		t.Errorf("ended and abandoned: %s", text)
	}
	left.Delete()
}

// Of many it lists a few, and says how many there are.
func TestVerifyNoneOfMany(t *testing.T) {
	testkit.CollectGarbage()
	check.SampleStacks(0)
	defer check.SampleStacks(128)
	for _, roots := range []bool{false, true} {
		for _, n := range []int{19, 20, 21, 500} {
			var all []*memctx.Context
			for range n {
				c := (*memctx.Context)(nil)
				if roots || len(all) == 0 {
					c = memctx.New("many")
				} else {
					c = all[0].Child("many")
				}
				all = append(all, c)
			}
			lines := strings.Split(verify(), "\n")
			want := min(n, 20) + 1
			if n > 20 {
				want++
				if last := lines[len(lines)-1]; last != fmt.Sprintf("… and %d more", n-20) {
					t.Errorf("%d contexts, roots: %t: the last line is %q", n, roots, last)
				}
			}
			if len(lines) != want || lines[0] != fmt.Sprintf("haven: %d open contexts:", n) {
				t.Errorf("%d contexts, roots: %t: %d lines\n%s", n, roots, len(lines), lines[0])
			}
			for _, c := range all {
				if memctx.StateOf(c) == "live" {
					c.Delete()
				}
			}
		}
	}
	// Of many that are sampled not all stacks are written.
	check.SampleStacks(1)
	root := memctx.New("many")
	defer root.Delete()
	for range 500 {
		root.Child("many")
	}
	if n := strings.Count(verify(), "was made at"); n < 20 || n > 25 {
		t.Errorf("%d stacks", n)
	}
}
