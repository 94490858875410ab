package arena_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// A mockT is a test that may fail.
type mockT struct {
	text     string
	cleanups []func()
}

func (m *mockT) Helper()                           {}
func (m *mockT) Errorf(format string, args ...any) { m.text += fmt.Sprintf(format, args...) }
func (m *mockT) Cleanup(f func())                  { m.cleanups = append(m.cleanups, f) }

// end ends the test and returns what it failed with.
func (m *mockT) end() string {
	for i := len(m.cleanups) - 1; i >= 0; i-- {
		m.cleanups[i]()
	}
	m.cleanups = nil
	return m.text
}

// fillNodes allocates nodes in a and returns one.
func fillNodes(a *arena.Arena) *node {
	for range 100 {
		arena.New[node](a)
	}
	return arena.New[node](a)
}

// VerifyNoStale fails the test for what was released after it was called, and is
// referred to at the end, and for nothing else.
func TestVerifyNoStale(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "verified"})
	defer stale.All()()
	before := fillNodes(a)
	a.Reset()

	clean := new(mockT)
	check.VerifyNoStale(clean)
	fillNodes(a)
	a.Reset()
	kept := fillNodes(a) // in use at the end
	for range 3 {
		inner := new(mockT)
		check.VerifyNoStale(inner)
		if text := inner.end(); text != "" {
			t.Errorf("a test inside: %s", text)
		}
	}
	if text := clean.end(); text != "" {
		t.Errorf("without a stale pointer: %s", text)
	}

	m := new(mockT)
	check.VerifyNoStale(m)
	a.Reset()
	if m.text != "" {
		t.Errorf("before the end: %s", m.text)
	}
	text := m.end()
	for _, want := range []string{
		"haven: 1 stale pointer:\n1 × arena \"verified\": ", ": something still points into a chunk of arena_test.node, ",
		"arena_test.TestVerifyNoStale(...)\n\t", "stale_test.go:",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	runtime.KeepAlive(before)
	runtime.KeepAlive(kept)
}

// It ends with the test: later releases are watched as seldom as before.
func TestVerifyNoStaleEnds(t *testing.T) {
	m := new(mockT)
	check.VerifyNoStale(m)
	m.end()
	serial := stale.Now()
	a := arena.NewArena()
	for range 100 {
		fillNodes(a)
		a.Reset()
	}
	if n := stale.Now() - serial; n != 0 {
		t.Errorf("%d releases are watched", n)
	}
}

// StalePointers lists what was found, OnStale tells, and both say where the arena was
// made if that was sampled.
func TestStalePointers(t *testing.T) {
	if !testkit.InChild(t) { // with findings of its own
		testkit.MustChild(t)
		return
	}
	if list := check.StalePointers(); list == nil || len(list) != 0 {
		t.Fatalf("%+v", list)
	}
	var mu sync.Mutex
	var told []check.Finding
	check.OnStale(func(e check.Finding) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, e)
	})
	defer leak.SampleEvery(128)
	var kept []*node
	for i := range 4 {
		leak.SampleEvery(uint32(min(i, 1)))
		a := arena.NewArena(arena.Config{Name: "listed"})
		m := new(mockT)
		check.VerifyNoStale(m)
		kept = append(kept, fillNodes(a))
		a.Reset()
		if text := m.end(); strings.Contains(text, "\nmade at\n") != (i > 0) {
			t.Errorf("%d: %s", i, text)
		}
		if i == 2 {
			check.OnStale(nil)
		}
		a.Free()
	}
	list := check.StalePointers()
	if len(list) != 2 || list[0].Count != 3 || list[1].Count != 1 || list[1].Stack != "" || !strings.Contains(list[0].Stack, "TestStalePointers") {
		t.Fatalf("%+v", list)
	}
	for _, e := range list {
		if e.What != "arena" || e.Name != "listed" || e.Type != "arena_test.node" || e.Chunks != 1 || e.Bytes < 1000 || e.Age <= 0 ||
			!strings.HasPrefix(e.Released, "github.com/haven-mem/haven/arena_test.TestStalePointers(...)\n") {
			t.Errorf("%+v", e)
		}
	}
	if len(told) != 3 || told[0].Count != 1 || told[0].String() != list[1].String() {
		t.Errorf("told of %+v", told)
	}
	runtime.KeepAlive(kept)
}

// What is dropped for the watch counts against no limit, and the arena goes on with
// chunks of the size that was needed.
func TestWatchedIsCredited(t *testing.T) {
	testkit.NeedsReuse(t)
	check.VerifyNoStale(t)
	a, w := paidArena(t, 100_000, arena.Config{Name: "paid", Limit: 100_000})
	for range 100 {
		arena.MakeSlice[byte](a, 40_000, 40_000)
		arena.MakeSlice[*int](a, 100, 100)
		arena.NewOf(a, reflect.TypeFor[[30]int]())
		w.check(a)
		a.Reset()
		w.check(a)
		if w.bytes != 0 || w.chunks != 0 {
			t.Fatalf("%d bytes in %d chunks are paid for after a Reset", w.bytes, w.chunks)
		}
	}
	fillNodes(a)
	a.Reset()
	fillNodes(a)
	if s := a.Stats(); s.Chunks != 1 {
		t.Errorf("the next round takes several chunks: %v", s)
	}
	account.Attach(a, nil, nil)
}

// Lanes that lie idle keep their memory: it was not released.
func TestWatchLeavesIdleLanes(t *testing.T) {
	testkit.NeedsReuse(t)
	a := arena.NewArena()
	arena.New[int](a)
	fillNodes(a)
	a.Reset()
	idle := a.Stats().Reserved
	defer stale.All()()
	arena.New[string](a)
	a.Reset()
	if n := a.Stats().Reserved; n != idle {
		t.Errorf("%d bytes reserved, want the %d of the lanes that were not used", n, idle)
	}
}

// Only Reset is watched: Free takes nothing back, Release of a Mark parts of chunks,
// and what a lease holds is not taken back either.
func TestWatchesResetsOnly(t *testing.T) {
	testkit.NeedsReuse(t)
	defer stale.All()()
	serial := stale.Now()
	a := arena.NewArena()
	m := a.Mark()
	kept := []*node{fillNodes(a)}
	a.Release(m)
	kept = append(kept, fillNodes(a))
	account.Leave(a)
	kept = append(kept, fillNodes(a))
	a.Trim(0)
	a.Free()
	if n := stale.Now() - serial; n != 0 {
		t.Errorf("%d releases are watched", n)
	}
	runtime.KeepAlive(kept)
}

// A chunk that is as small as to share its block with others is left out.
func TestSmallChunksAreLeftOut(t *testing.T) {
	m := new(mockT)
	check.VerifyNoStale(m)
	a := arena.NewArena(arena.Config{Limit: 8})
	kept := arena.MakeSlice[byte](a, 7, 7)
	a.Reset()
	if text := m.end(); text != "" {
		t.Error(text)
	}
	runtime.KeepAlive(kept)
}

// Of three types that point to each other the one that is referred to is named.
func TestStaleOfOneLane(t *testing.T) {
	testkit.NeedsReuse(t)
	type up struct{ strings *[]string }
	m := new(mockT)
	check.VerifyNoStale(m)
	a := arena.NewArena(arena.Config{Name: "lanes"})
	list := arena.MakeSlice[string](a, 10, 10)
	u := arena.New[up](a)
	u.strings = &list
	for i := range list {
		list[i] = arena.String(a, strings.Repeat("text", 1000))
	}
	kept := &list[3]
	a.Reset()
	if text := m.end(); strings.Count(text, "×") != 1 || !strings.Contains(text, " a chunk of string,") {
		t.Error(text)
	}
	if *kept != "" {
		t.Error("what is watched was not cleared")
	}
}

// Of several chunks of a type known at run time the one that is referred to holds no
// other.
func TestStaleOfOneChunk(t *testing.T) {
	testkit.NeedsReuse(t)
	type link struct {
		next *link
		rest [100]int
	}
	m := new(mockT)
	check.VerifyNoStale(m)
	a := arena.NewArena(arena.Config{Name: "links"})
	typ := reflect.TypeFor[link]()
	first := arena.NewOf(a, typ).Interface().(*link)
	for last, i := first, 0; i < 100; i++ {
		last.next = arena.NewOf(a, typ).Interface().(*link)
		last = last.next
	}
	a.Reset()
	if text := m.end(); strings.Count(text, "×") != 1 || !strings.Contains(text, " a chunk of arena_test.link,") {
		t.Error(text)
	}
	if first.next != nil {
		t.Error("what is watched was not cleared")
	}
}

// At the usual rate a steady program allocates for the watched releases alone.
func TestWatchIsSeldom(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	defer stale.SampleEvery(0)
	stale.SampleEvery(1024)
	var p arena.Pool
	serial := stale.Now()
	const n = 100_000
	allocs := testing.AllocsPerRun(n, func() {
		a := p.Get()
		fillNodes(a)
		p.Put(a)
	})
	watched := stale.Now() - serial
	if allocs != 0 { // rounded down
		t.Errorf("%v allocs/op", allocs)
	}
	if watched < 40 || watched > 160 {
		t.Errorf("%d of %d releases are watched", watched, n)
	}
}

// A chunk of 32 MiB costs as much to make as 32 of one, and is watched as often as one
// of them. An arena is a lane's or several lanes'.
func TestLargeIsWatchedSeldom(t *testing.T) {
	testkit.NeedsReuse(t)
	defer stale.SampleEvery(0)
	stale.SampleEvery(2)
	const bytes, n = 32 << 20, 200
	large := arena.Config{FirstChunk: bytes, MaxChunk: bytes}
	a, b := arena.NewArena(large), arena.NewArena(large)
	l := arena.LaneOf[[2]int](b)
	for name, release := range map[string]func(){
		"Arena": func() { arena.New[[2]int](a); a.Reset() },
		"Lane":  func() { l.New(); l.Reset() },
	} {
		serial := stale.Now()
		for range n {
			release()
		}
		// Of 100 one in 32, and six standard deviations.
		if watched := stale.Now() - serial; watched > 14 {
			t.Errorf("%s.Reset: %d of %d releases are watched", name, watched, n)
		}
	}
	end := stale.All()
	serial := stale.Now()
	arena.New[[2]int](a)
	a.Reset()
	end()
	if watched := stale.Now() - serial; watched != 1 {
		t.Errorf("%d of 1 are watched when all are", watched)
	}
}
