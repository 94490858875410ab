package memctx_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// found returns the findings of a kind about a name.
func found(kind, name string) (list []check.Finding) {
	for _, l := range append(check.Leaks(), check.StalePointers()...) {
		if l.Kind == kind && l.Name == name {
			list = append(list, l)
		}
	}
	return list
}

// count returns how many findings those are.
func count(list []check.Finding) (n uint64) {
	for _, l := range list {
		n += l.Count
	}
	return n
}

// sampled makes the leak finder take down all stacks during a test.
func sampled(t testing.TB) {
	check.SampleStacks(1)
	t.Cleanup(func() { check.SampleStacks(128) })
}

// here returns the file and line of its caller, less so many lines.
func here(less int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d\n", file, line-less)
}

// wantStack fails the test unless the stack begins with the function and line.
func wantStack(t testing.TB, stack, function, line string) {
	t.Helper()
	if first, _, _ := strings.Cut(stack, "\n"); !strings.Contains(first, "memctx_test."+function) || !strings.HasPrefix(strings.SplitAfterN(stack, "\n", 2)[1], "\t"+line) {
		t.Errorf("the stack does not begin with %s at %s:\n%s", function, line, stack)
	}
}

// A root that is dropped is found, with the place where it was made.
func TestLeakOfRoot(t *testing.T) {
	sampled(t)
	var line string
	drop := func(i int) {
		root := memctx.New("dropped root", memctx.Config{Ident: fmt.Sprint(i)})
		line = here(1)
		root.OnReset(func() { t.Error("a callback of a dropped context ran") })
		arena.New[int](root.Child("dropped below").Arena())
		if i%2 == 0 {
			root.Child("dropped below").Retain()
		}
	}
	memctx.New("server").Delete()
	before := namesOf(t, "server")
	was := count(found("dropped", "dropped root"))
	for i := range 10 {
		drop(i)
	}
	testkit.Eventually(t, "dropped roots are found", func() bool { return count(found("dropped", "dropped root")) == was+10 })
	list := found("dropped", "dropped root")
	if len(list) != 1 {
		t.Fatalf("%d findings of one place: %+v", len(list), list)
	}
	l := list[0]
	if l.What != "context" || !strings.HasPrefix(l.Path, "dropped root[") || l.Age <= 0 {
		t.Errorf("%+v", l)
	}
	wantStack(t, l.Stack, "TestLeakOfRoot", line)
	if text := l.String(); !strings.HasPrefix(text, fmt.Sprintf("%d × context %s dropped: 0 bytes, ", l.Count, l.Path)) || !strings.HasSuffix(text, " old\n"+l.Stack) {
		t.Errorf("%s", text)
	}
	if n := namesOf(t, "dropped root"); n.Dropped != l.Count || n.Live != 0 || n.Created != l.Count {
		t.Errorf("%v", n)
	}

	// Those that ended are not, in whatever way.
	for i := range 10 {
		root := memctx.New("server")
		switch i % 5 {
		case 0:
			root.Delete()
		case 1:
			root.Retain()
			root.Delete()
			root.Release()
		case 2:
			root.Abandon()
		case 3:
			above := memctx.New("server")
			if err := root.SetParent(above); err != nil {
				t.Error(err)
			}
			above.Delete()
		case 4:
			above := memctx.New("server")
			below := above.Child("server")
			if err := below.SetParent(nil); err != nil {
				t.Error(err)
			}
			above.Delete()
			below.Delete()
			root.Delete()
		}
	}
	for range 5 {
		testkit.CollectGarbage()
	}
	if n := namesOf(t, "server"); n.Dropped != before.Dropped || len(found("dropped", "server")) > 0 {
		t.Errorf("%v", n)
	}

	// One that is deleted, and whose lease nobody gives back, is.
	func() {
		root := memctx.New("held root")
		root.Retain()
		root.Delete()
	}()
	testkit.Eventually(t, "a root with a lost lease is found", func() bool { return count(found("dropped", "held root")) > 0 })
	checkNames(t, "held root", "dropped root", "server")
}

// So is an arena with a name; those of contexts and pools are not, nor those that
// were freed.
func TestLeakOfArena(t *testing.T) {
	sampled(t)
	name := "dropped arena"
	was := count(found("dropped", name))
	var line string
	var pool = arena.NewPool(arena.Config{Name: "dropped pooled"})
	root := memctx.New("dropped context's")
	for range 10 {
		a := arena.NewArena(arena.Config{Name: name})
		line = here(1)
		arena.New[int](a)
		f := arena.NewArena(arena.Config{Name: "dropped freed"})
		arena.New[int](f)
		f.Free()
		arena.New[int](arena.NewArena()) // without a name
		p := pool.Get()
		arena.New[int](p) // and never put back
		c := root.Child("dropped context's")
		arena.New[int](c.Arena())
		c.Abandon()
	}
	root.Delete()
	testkit.Eventually(t, "dropped arenas are found", func() bool { return count(found("dropped", name)) == was+10 })
	for _, l := range found("dropped", name) {
		if l.What != "arena" || l.Path != "" || l.Name != name {
			t.Errorf("%+v", l)
		}
		wantStack(t, l.Stack, "TestLeakOfArena", line)
		if text := l.String(); !strings.HasPrefix(text, fmt.Sprintf("%d × arena dropped arena dropped: 0 bytes, ", l.Count)) {
			t.Errorf("%s", text)
		}
	}
	for range 5 {
		testkit.CollectGarbage()
	}
	for _, l := range append(check.Leaks(), check.StalePointers()...) {
		if slices.Contains([]string{"dropped freed", "", "dropped pooled", "dropped context's"}, l.Name) {
			t.Errorf("%v", l)
		}
	}
}

// A context that is larger at each of many resets is found, once for so many.
func TestLeakThatGrows(t *testing.T) {
	sampled(t)
	server := memctx.New("server")
	defer server.Delete()
	grows, line := server.Child("grows"), here(0)
	steady := server.Child("steady grows")
	size := func(n int) int { return 100_000 * n }
	was := count(found("grows", "grows"))
	for n := range memctx.GrowsAfter - 1 {
		fill(t, grows, size(n+1))
		grows.Reset()
	}
	for n := range 4 * memctx.GrowsAfter { // larger at most resets, not at each
		fill(t, steady, size(n%5+1))
		steady.Reset()
	}
	if n := count(found("grows", "grows")); n != was {
		t.Errorf("found %d after too few resets", n-was)
	}
	fill(t, grows, size(memctx.GrowsAfter))
	bytes := grows.Stats().Own.Bytes
	grows.Reset()
	list := found("grows", "grows")
	if count(list) != was+1 || len(list) != 1 || list[0].Path != "server/grows" || list[0].Bytes != bytes || list[0].What != "context" {
		t.Fatalf("%+v, want one of %d bytes", list, bytes)
	}
	wantStack(t, list[0].Stack, "TestLeakThatGrows", line)
	for n := range memctx.GrowsAfter - 1 {
		fill(t, grows, size(memctx.GrowsAfter+n+1))
		grows.Reset()
	}
	if n := count(found("grows", "grows")); n != was+1 {
		t.Errorf("found %d after too few resets", n-was)
	}
	if list := found("grows", "steady grows"); len(list) > 0 {
		t.Errorf("%v", list)
	}
}

// So is one that outlives the resets of its parent by a lease, and grows.
func TestLeakBelowResets(t *testing.T) {
	for name, reset := range map[string]func(*memctx.Context){"Reset": (*memctx.Context).Reset, "ResetChildren": (*memctx.Context).ResetChildren} {
		server := memctx.New("server")
		held := server.Child("grows below")
		held.Arena().Trim(0) // forgets what others needed
		held.Retain()
		server.Reset()
		was := count(found("grows", "grows below"))
		for range 2 * memctx.GrowsAfter {
			arena.MakeSlice[byte](held.Arena(), 0, 600_000) // a chunk of its own
			reset(server)
		}
		list := found("grows", "grows below")
		if n := count(list) - was; n != 2 {
			t.Fatalf("%s: %d findings in %d resets: %v", name, n, 2*memctx.GrowsAfter, list)
		}
		if list[0].Path != "server/grows below" || list[0].Bytes == 0 {
			t.Errorf("%+v", list[0])
		}
		held.Release()
		server.Delete()
	}
}

// A context that is older than its MaxAge is found, once.
func TestLeakOfAge(t *testing.T) {
	sampled(t)
	server := memctx.New("server")
	defer server.Delete()
	before := count(found("old", "aged"))
	var line string
	for range 3 {
		server.Child("aged", memctx.Config{MaxAge: time.Nanosecond})
		line = here(1)
	}
	server.Child("aged", memctx.Config{MaxAge: time.Hour})
	server.Child("aged")
	was := before + 3
	for server.Stats().Age < time.Millisecond {
	}
	for range 3 {
		list := found("old", "aged")
		if len(list) != 1 || list[0].Count != was || list[0].Path != "server/aged" || list[0].Age < time.Nanosecond {
			t.Fatalf("%+v, want three more", list)
		}
		wantStack(t, list[0].Stack, "TestLeakOfAge", line)
	}
	// A snapshot looks as well.
	server.Child("aged too", memctx.Config{MaxAge: time.Nanosecond})
	last := server.Child("server")
	for last.Stats().Age < time.Millisecond {
	}
	s := memctx.TakeSnapshot()
	if !slices.ContainsFunc(s.Leaks, func(l check.Finding) bool { return l.Kind == "old" && l.Name == "aged too" }) {
		t.Errorf("%+v", s.Leaks)
	}
}

// Those found most often come first.
func TestLeakOrder(t *testing.T) {
	list := check.Leaks()
	for i := 1; i < len(list); i++ {
		if list[i].Count > list[i-1].Count {
			t.Errorf("%v\ncomes behind\n%v", list[i], list[i-1])
		}
	}
	if len(list) < 2 {
		t.Skip("there are no findings of other tests")
	}
}

// The first contexts of a name are sampled, whatever the rate, but for none.
func TestSampleFirst(t *testing.T) {
	defer check.SampleStacks(128)
	check.SampleStacks(math.MaxInt32)
	root := memctx.New("sampled first root")
	defer root.Delete()
	name := freshName("sampled first")
	for n := range 10 {
		c := root.Child(name)
		if n == 2 {
			c.Delete()
		}
		if got := memctx.IsSampled(c); got != (n < 4) {
			t.Errorf("after %d contexts: %t", n, got)
		}
	}
	check.SampleStacks(0)
	if memctx.IsSampled(root.Child(freshName("sampled first of none"))) {
		t.Error("one is sampled where none shall be")
	}
}

// One context in so many is sampled.
func TestSampleStacks(t *testing.T) {
	defer check.SampleStacks(128)
	n := fewer(200_000, 40_000)
	for _, every := range []int{0, 1, 10, 128} {
		check.SampleStacks(every)
		server := memctx.New("sampled")
		for range n - 1 {
			server.Child("sampled")
		}
		stacks := 0
		server.Walk(func(c *memctx.Context, _ int) bool {
			if memctx.IsSampled(c) {
				stacks++
			}
			return true
		})
		server.Delete()
		// Six standard deviations.
		mean, most := 0, 0
		if every > 0 {
			mean = n / every
			for d := 1; d*d <= 36*mean; d++ {
				most = d
			}
		}
		if d := stacks - mean; every < 2 && d != 0 || d > most || d < -most {
			t.Errorf("1 in %d: %d of %d are sampled", every, stacks, n)
		}
	}
	testkit.PanicText(t, "check: SampleStacks(-1): want 1 for all, 0 for none, or one in how many", func() { check.SampleStacks(-1) })
}
