package leak_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/testkit"
)

// inChild runs a test alone in a process, whose list of findings is empty.
func inChild(t *testing.T) bool {
	t.Helper()
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return false
	}
	return true
}

// One object in so many is sampled, with six standard deviations at most between
// that and what is counted.
func TestSampled(t *testing.T) {
	defer leak.SampleEvery(128)
	const n = 1 << 18
	for _, c := range []struct {
		every       uint32
		least, most int
	}{
		{0, 0, 0},
		{1, n, n},
		{2, n/2 - 6*256, n/2 + 6*256},
		{128, n/128 - 6*46, n/128 + 6*46},
		{1 << 31, 0, 1},
	} {
		leak.SampleEvery(c.every)
		got := 0
		for range n {
			if leak.Sampled() {
				got++
			}
		}
		if got < c.least || got > c.most {
			t.Errorf("1 in %d: %d of %d are sampled, want %d to %d", c.every, got, n, c.least, c.most)
		}
	}
}

// What is not set samples one in 128.
func TestSampledByDefault(t *testing.T) {
	if !inChild(t) {
		return
	}
	got := 0
	for range 128 * 2000 {
		if leak.Sampled() {
			got++
		}
	}
	if got < 2000-6*45 || got > 2000+6*45 {
		t.Errorf("%d of %d are sampled", got, 128*2000)
	}
}

func makeSite() *leak.Site { return leak.Here("thing", "made") }

// A stack names who made the object, and those that called it.
func TestStack(t *testing.T) {
	if s := (*leak.Site)(nil).Stack(); s != "" {
		t.Errorf("the stack of an object that was not sampled is %q", s)
	}
	lines := strings.Split(makeSite().Stack(), "\n")
	if len(lines) < 5 || len(lines)%2 != 1 {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"leak_test.makeSite(...)", "leak_test.go:", "leak_test.TestStack(...)", "leak_test.go:", "testing.tRunner(...)"} {
		if !strings.Contains(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
	// Of a deep one the beginning is kept.
	var deep func(n int) *leak.Site
	deep = func(n int) *leak.Site {
		if n == 0 {
			return makeSite()
		}
		return deep(n - 1)
	}
	if s := deep(1000).Stack(); strings.Count(s, "\n") > 2*24 || strings.Count(s, "TestStack") < 20 {
		t.Errorf("%s", s)
	}
}

// Findings of one kind, name and stack are one; the latest gives the rest.
func TestReport(t *testing.T) {
	if !inChild(t) {
		return
	}
	if list := leak.All(); len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	a, b := leak.Here("thing", "a"), leak.Here("thing", "a") // on one line
	leak.Report(leak.Grows, "thing", "a", "x/a", 1, time.Second, a)
	leak.Report(leak.Grows, "thing", "a", "y/a", 2, time.Minute, b)
	leak.Report(leak.Grows, "thing", "a", "", 3, 0, nil)
	leak.Report(leak.Old, "thing", "a", "", 4, 0, a)
	leak.Report(leak.Old, "other", "a", "", 5, 0, a)
	for range 3 {
		leak.Report(leak.Old, "thing", "b", "z/b", 6, 1, nil)
	}
	for i := range 2 {
		leak.Add(leak.Finding{Kind: leak.Stale, What: "thing", Name: "c", Type: "T", Chunks: 1 + i, Bytes: 7 + i, Count: 9, Released: "here", Stack: "there"})
	}
	leak.Add(leak.Finding{Kind: leak.Stale, What: "thing", Name: "d", Type: "T", Released: "elsewhere"})
	want := []leak.Finding{
		{Kind: leak.Old, What: "thing", Name: "b", Path: "z/b", Count: 3, Bytes: 6, Age: 1},
		{Kind: leak.Grows, What: "thing", Name: "a", Path: "y/a", Count: 2, Bytes: 2, Age: time.Minute, Stack: a.Stack()},
		{Kind: leak.Stale, What: "thing", Name: "c", Type: "T", Chunks: 2, Bytes: 8, Count: 2, Released: "here", Stack: "there"},
		{Kind: leak.Grows, What: "thing", Name: "a", Count: 1, Bytes: 3},
		{Kind: leak.Old, What: "thing", Name: "a", Count: 1, Bytes: 4, Stack: a.Stack()},
		{Kind: leak.Old, What: "other", Name: "a", Count: 1, Bytes: 5, Stack: a.Stack()},
		{Kind: leak.Stale, What: "thing", Name: "d", Type: "T", Count: 1, Released: "elsewhere"},
	}
	list := leak.All()
	if len(list) != len(want) {
		t.Fatalf("%d findings: %+v", len(list), list)
	}
	for i, f := range list {
		if f != want[i] {
			t.Errorf("finding %d\n got %+v\nwant %+v", i, f, want[i])
		}
	}
}

// The list is bounded: what is found beyond loses its stack, then its name, and is
// counted all the same.
func TestReportBounded(t *testing.T) {
	if !inChild(t) {
		return
	}
	sum := func() (n uint64) {
		for _, f := range leak.All() {
			n += f.Count
		}
		return n
	}
	calls := uint64(0)
	site := leak.Here("thing", "x")
	report := func(kind, name string, s *leak.Site) {
		calls++
		leak.Report(kind, "thing", name, "path", 1, 1, s)
	}
	for i := range leak.MaxFindings {
		report(leak.Old, fmt.Sprint("name ", i), site)
	}
	if n := len(leak.All()); n != leak.MaxFindings {
		t.Fatalf("%d findings", n)
	}
	for range 10 {
		report(leak.Old, "name 7", site)                          // is known
		report(leak.Old, "name 8", leak.Here("thing", "x"))       // with another stack
		report(leak.Grows, "name 8", leak.Here("thing", "grows")) // of another kind
	}
	for _, f := range leak.All() {
		want := uint64(1)
		if f.Name == "name 7" || f.Stack == "" {
			want = 10
		}
		if f.Name == "name 7" {
			want++
		}
		if f.Count != want || f.Stack == "" && f.Name != "name 8" {
			t.Errorf("%+v, want %d", f, want)
		}
	}
	if n := len(leak.All()); n != leak.MaxFindings+2 {
		t.Errorf("%d findings", n)
	}
	for i := range 3 * leak.MaxFindings {
		report(leak.Old, fmt.Sprint("more names ", i), nil)
		report(leak.Dropped, fmt.Sprint("more names ", i), site)
	}
	list := leak.All()
	if len(list) != 2*leak.MaxFindings+2 {
		t.Errorf("%d findings", len(list))
	}
	if sum() != calls {
		t.Errorf("%d findings are counted, want %d", sum(), calls)
	}
	others := 0
	for _, f := range list {
		if f.Name == "(other names)" {
			if others++; f.Stack != "" || f.Path != "" || f.Count < leak.MaxFindings {
				t.Errorf("%+v", f)
			}
		}
	}
	if others != 2 {
		t.Errorf("%d findings without a name, want one of each kind", others)
	}
}

// A watch finds the object that nobody refers to any more; one that was stopped
// does not.
func TestWatch(t *testing.T) {
	if !inChild(t) {
		return
	}
	kept := new([4]*int)
	keptWatch := leak.NewWatch(kept, "thing", "kept")
	for range 5 {
		leak.NewWatch(new([4]*int), "thing", "dropped")
		w := leak.NewWatch(new([4]*int), "thing", "stopped")
		w.Stop()
		w.Stop()
	}
	testkit.Eventually(t, "dropped things are found", func() bool {
		list := leak.All()
		return len(list) == 1 && list[0].Count == 5
	})
	f := leak.All()[0]
	if f.Kind != leak.Dropped || f.What != "thing" || f.Name != "dropped" || f.Path != "" || f.Age <= 0 || !strings.Contains(f.Stack, "TestWatch") {
		t.Errorf("%+v", f)
	}
	keptWatch.Stop()
	kept[0] = nil
	new(leak.Watch).Stop()
	for range 3 {
		testkit.CollectGarbage()
	}
	if list := leak.All(); len(list) != 1 || list[0].Count != 5 {
		t.Errorf("%+v", list)
	}
}

func TestReportConcurrent(t *testing.T) {
	if !inChild(t) {
		return
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 1000 {
				leak.Report(leak.Old, "thing", fmt.Sprint("name ", (g*i)%50), "", i, 0, nil)
				if i%100 == 0 {
					leak.All()
				}
			}
		}()
	}
	wg.Wait()
	n := uint64(0)
	for _, f := range leak.All() {
		n += f.Count
	}
	if n != 8000 {
		t.Errorf("%d findings are counted, want 8000", n)
	}
}
