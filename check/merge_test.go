//go:build haven_check

package check_test

import (
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// reportsOf returns the reports that an error of Verify's joins.
func reportsOf(err error) (list []*check.Report) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			list = append(list, e.(*check.Report))
		}
	}
	return list
}

// Mistakes that are the same but for addresses and values are one report of Verify's,
// which counts them and has the details of the first and of the last. Others have
// theirs.
func TestVerifyMerges(t *testing.T) {
	for name, n := range map[string]int{"orders": 30, "trades": 4} {
		c := slab.NewCache(slab.Config[node]{Name: name})
		var ps []*node
		for range n {
			ps = append(ps, c.Alloc())
		}
		for _, p := range ps {
			c.Free(p)
		}
		for i, p := range ps {
			p.n[1] = int64(i)
		}
	}
	a := arena.NewArena(arena.Config{Name: "requests"})
	for range 5 {
		p := arena.New[node](a)
		a.Reset()
		p.tail = 3
	}
	var u bump.Arena
	for range 7 {
		poke(u.Alloc(5, 1), 5, 7)
	}
	err := check.Verify()
	counts := map[string]int{}
	for _, r := range reportsOf(err) {
		counts[r.Memory] += r.Count
		if (r.Count > 1) != (r.Last != "" && r.Last != r.Detail) {
			t.Errorf("%d mistakes, the first %q, the last %q", r.Count, r.Detail, r.Last)
		}
	}
	text := err.Error()
	for memory, n := range map[string]int{
		`a check_test.node of cache "orders"`: 30, `a check_test.node of cache "trades"`: 4,
		`a check_test.node of arena "requests"`: 5, "5 bytes of a bump arena": 7,
	} {
		if counts[memory] != n || strings.Count(text, memory) != 1 {
			t.Errorf("%d mistakes with %s, want %d, in\n%s", counts[memory], memory, n, text)
		}
	}
	for _, want := range []string{"haven: 30 × write after release: .n[1] of", "holds 00 00", "\nthe last: .n[1] of", "holds 1d 00", "haven: 5 × write", "haven: 7 × overrun"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	u.Free()
}

// What is the same again is printed in full once, and then with its number, each time
// that this has doubled.
func TestPrintedOnce(t *testing.T) {
	if testkit.InChild(t) {
		c := slab.NewCache(slab.Config[node]{Name: "orders"})
		for range 30 {
			func() {
				defer func() { recover() }()
				p := c.Alloc()
				c.Free(p)
				c.Free(p)
			}()
		}
		return
	}
	text, err := testkit.Child(t, "HAVEN_CHECK=")
	if err != nil {
		t.Fatal(err, text)
	}
	if n := strings.Count(text, "haven: second free"); n != 1 {
		t.Errorf("%d reports in\n%s", n, text)
	}
	for _, want := range []string{"haven: 2 × so far: second free", "haven: 16 × so far: second free: 0x", `a check_test.node of cache "orders"`} {
		if strings.Count(text, want) == 0 {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if n := strings.Count(text, "so far"); n != 4 {
		t.Errorf("%d lines tell the number in\n%s", n, text)
	}
}

// What leaves the quarantine at once is told of at once.
func TestHandledMerged(t *testing.T) {
	var got []*check.Report
	check.Handle(func(r *check.Report) { got = append(got, r) })
	defer check.Handle(nil)
	var a bump.Arena
	for range 3 {
		poke(a.Alloc(5, 1), 5, 7)
	}
	a.Reset()
	if len(got) != 1 || got[0].Count != 3 || got[0].Now == "" {
		t.Errorf("%d reports: %v", len(got), got)
	}
}
