package arena_test

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
)

func panicsWith(t *testing.T, want string, f func()) {
	t.Helper()
	testkit.PanicText(t, want, f)
}

// uses are all ways to use an arena, each with the operation that its panic
// names.
var uses = []struct {
	op  string
	use func(a *arena.Arena)
}{
	{"New", func(a *arena.Arena) { arena.New[int](a) }},
	{"New", func(a *arena.Arena) { arena.New[uint](a) }},
	{"New", func(a *arena.Arena) { arena.NewFrom(a, 5) }},
	{"MakeSlice", func(a *arena.Arena) { arena.MakeSlice[int](a, 1, 1) }},
	{"MakeSlice", func(a *arena.Arena) { arena.MakeSlice[int](a, 0, 0) }},
	{"TryAppend", func(a *arena.Arena) { arena.TryAppend(a, []int{1}, 2) }},
	{"TryString", func(a *arena.Arena) { arena.TryString(a, "text") }},
	{"Append", func(a *arena.Arena) { arena.Append(a, []int{1}, 2) }},
	{"Push", func(a *arena.Arena) { arena.Push(a, []int{1}, 2) }},
	{"String", func(a *arena.Arena) { arena.String(a, "text") }},
	{"NewOf", func(a *arena.Arena) { arena.NewOf(a, reflect.TypeFor[int]()) }},
	{"NewOf", func(a *arena.Arena) { arena.NewOf(a, reflect.TypeFor[bool]()) }},
	{"TryNew", func(a *arena.Arena) { arena.TryNew[int](a) }},
	{"TryMakeSlice", func(a *arena.Arena) { arena.TryMakeSlice[int](a, 1, 2) }},
	{"LaneOf", func(a *arena.Arena) { arena.LaneOf[int](a) }},
	{"LaneOf", func(a *arena.Arena) { arena.LaneOf[bool](a) }},
	{"Reset", (*arena.Arena).Reset},
	{"Free", (*arena.Arena).Free},
	{"Mark", func(a *arena.Arena) { a.Mark() }},
	{"Trim", func(a *arena.Arena) { a.Trim(0) }},
	{"OnReset", func(a *arena.Arena) { a.OnReset(func() {}) }},
	{"Pool.Put", func(a *arena.Arena) { new(arena.Pool).Put(a) }},
}

// warm makes an arena whose lanes are there, in use or at rest.
func warm(inUse bool) *arena.Arena {
	a := arena.NewArena(arena.Config{Name: "w"})
	arena.New[int](a)
	arena.String(a, "x")
	arena.NewOf(a, reflect.TypeFor[int]())
	if !inUse {
		a.Reset()
	}
	return a
}

// After Free every use panics and names the arena, whatever state it was in.
func TestUseAfterFree(t *testing.T) {
	for _, u := range uses {
		want := fmt.Sprintf(`arena: %s after Free of arena "w"`, u.op)
		for _, a := range []*arena.Arena{warm(true), warm(false), arena.NewArena(arena.Config{Name: "w"})} {
			a.Free()
			panicsWith(t, want, func() { u.use(a) })
			panicsWith(t, want, func() { u.use(a) })
		}
	}
	var a arena.Arena
	a.Free()
	panicsWith(t, "arena: Free after Free of an arena without a name", a.Free)
	a2 := warm(true)
	m := a2.Mark()
	a2.Free()
	panicsWith(t, `arena: Release after Free of arena "w"`, func() { a2.Release(m) })
}

// laneUses are the ways to use a lane.
var laneUses = []struct {
	op  string
	use func(l *arena.Lane[int])
}{
	{"New", func(l *arena.Lane[int]) { l.New() }},
	{"New", func(l *arena.Lane[int]) { l.NewFrom(1) }},
	{"MakeSlice", func(l *arena.Lane[int]) { l.MakeSlice(1, 1) }},
	{"MakeSlice", func(l *arena.Lane[int]) { l.MakeSlice(0, 0) }},
	{"Append", func(l *arena.Lane[int]) { l.Append([]int{1}, 2) }},
	{"Push", func(l *arena.Lane[int]) { l.Push([]int{1}, 2) }},
	{"MakeSlice", func(l *arena.Lane[int]) { l.MakeSlice(0, 1<<20) }},
	{"Lane.Reset", func(l *arena.Lane[int]) { l.Reset() }},
}

// A lane that was handed out ends with its arena, and rests while the arena
// lies in a pool.
func TestLaneAfterFreeAndPut(t *testing.T) {
	onOneP(t)
	for _, u := range laneUses {
		for _, inUse := range []bool{true, false} {
			a := warm(inUse)
			l := arena.LaneOf[int](a)
			a.Free()
			panicsWith(t, fmt.Sprintf(`arena: %s after Free of arena "w"`, u.op), func() { u.use(l) })

			a = warm(inUse)
			l = arena.LaneOf[int](a)
			var p arena.Pool
			p.Put(a)
			panicsWith(t, fmt.Sprintf(`arena: %s on arena "w" after Put into its Pool`, u.op), func() { u.use(l) })
			if p.Get() != a {
				t.Fatal("pool has another arena")
			}
			u.use(l)
			checkStats(t, a)
		}
	}
}

// Until Get returns it, an arena in a pool is nobody's.
func TestUseAfterPut(t *testing.T) {
	onOneP(t)
	for _, u := range uses {
		a := warm(true)
		var p arena.Pool
		p.Put(a)
		text := fmt.Sprint(testkit.Panic(t, func() { u.use(a) }))
		// A function that goes through a lane may name what it calls there.
		if !strings.HasSuffix(text, ` on arena "w" after Put into its Pool`) || !strings.HasPrefix(text, "arena: ") {
			t.Errorf("%s after Put panics with %s", u.op, text)
		}
		if got := p.Get(); got != a {
			t.Fatal("pool has another arena")
		}
		*arena.New[int](a) = 1
		checkStats(t, a)
	}
}

// A copy of an arena is reported as soon as it is asked for anything that is
// not a value of a type it already has.
func TestCopy(t *testing.T) {
	for _, u := range uses {
		a := arena.NewArena(arena.Config{Name: "w"})
		a.Reset()
		c := copyOf(a)
		panicsWith(t, fmt.Sprintf(`arena: %s on a copy of arena "w": pass a *Arena`, u.op), func() { u.use(c) })
		m := a.Mark()
		panicsWith(t, `arena: Release on arena "w" of a Mark of arena "w"`, func() { c.Release(m) })
		u.use(a)
	}
	// A zero arena that was never used may be moved.
	a := new(arena.Arena)
	c := copyOf(a)
	*arena.New[int](c) = 1
	*arena.New[int](a) = 1
	checkStats(t, c)
}

// A copy of a lane panics when it needs a chunk, before it hands out what is not its own.
func TestLaneCopy(t *testing.T) {
	testkit.NeedsReuse(t)
	var own arena.Lane[int]
	own.New()
	of := arena.LaneOf[int](warm(true))
	of.New()
	for _, l := range []*arena.Lane[int]{&own, of} {
		c := copyOf(l)
		text := fmt.Sprint(testkit.Panic(t, func() {
			for range 1 << 10 {
				c.New()
			}
		}))
		if !strings.HasPrefix(text, "arena: use of a copy of a Lane[int] (") {
			t.Errorf("a copy panics with %s", text)
		}
	}
	if text := fmt.Sprint(testkit.Panic(t, func() { copyOf(of).MakeSlice(0, 1<<20) })); text != `arena: use of a copy of a Lane[int] (arena "w"): pass a *Lane` {
		t.Errorf("a copy panics with %s", text)
	}
}

func TestMisuseTexts(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "request"})
	anon := new(arena.Arena)
	l := arena.LaneOf[int](a)
	tooMany := maxBytes/8 + 1
	free := arena.NewArena(arena.Config{Name: "other"})
	m := free.Mark()
	inner := free.Mark()
	long := func(op string, n int) string {
		return fmt.Sprintf("arena: %s[int64]: %d elements of 8 bytes are more than the %d bytes of the address space", op, n, maxBytes)
	}
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"arena: MakeSlice[int]: length -1, capacity 5: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[int](a, -1, 5) }},
		{"arena: MakeSlice[int]: length -1, capacity -1: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[int](a, -1, -1) }},
		{"arena: MakeSlice[int]: length -2, capacity -1: want 0 ≤ length ≤ capacity", func() { l.MakeSlice(-2, -1) }},
		{"arena: MakeSlice[int]: length 0, capacity -1: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[int](a, 0, -1) }},
		{"arena: MakeSlice[int]: length 5, capacity 4: want 0 ≤ length ≤ capacity", func() { l.MakeSlice(5, 4) }},
		{"arena: MakeSlice[string]: length 5, capacity 4: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[string](nil, 5, 4) }},
		{"arena: MakeSlice[string]: length -1, capacity -1: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[string](nil, -1, -1) }},
		{"arena: MakeSlice[int]: length 2, capacity 1: want 0 ≤ length ≤ capacity", func() { arena.LaneOf[int](nil).MakeSlice(2, 1) }},
		{"arena: TryMakeSlice[int]: length 2, capacity 1: want 0 ≤ length ≤ capacity", func() { arena.TryMakeSlice[int](a, 2, 1) }},
		{"arena: TryMakeSlice[int]: length -3, capacity -1: want 0 ≤ length ≤ capacity", func() { arena.TryMakeSlice[int](a, -3, -1) }},
		{"arena: MakeSlice[struct {}]: length -1, capacity 0: want 0 ≤ length ≤ capacity", func() { arena.MakeSlice[struct{}](a, -1, 0) }},
		{long("MakeSlice", tooMany), func() { arena.MakeSlice[int64](a, 0, tooMany) }},
		{long("MakeSlice", math.MaxInt), func() { arena.MakeSlice[int64](a, math.MaxInt, math.MaxInt) }},
		{long("MakeSlice", tooMany), func() { arena.MakeSlice[int64](nil, 0, tooMany) }},
		{long("TryMakeSlice", tooMany), func() { arena.TryMakeSlice[int64](a, 0, tooMany) }},
		{fmt.Sprintf("arena: Append of %d values to a slice of %d overflows", math.MaxInt, 2), func() {
			arena.Append(a, make([]struct{}, 2), make([]struct{}, math.MaxInt)...)
		}},
		{fmt.Sprintf("arena: Push of 1 values to a slice of %d overflows", math.MaxInt), func() {
			arena.Push(a, make([]struct{}, math.MaxInt), struct{}{})
		}},
		{`arena: NewOf(nil) on arena "request"`, func() { arena.NewOf(a, nil) }},
		{"arena: NewOf(nil) on the nil arena", func() { arena.NewOf(nil, nil) }},
		{`arena: OnReset(nil) of arena "request"`, func() { a.OnReset(nil) }},
		{"arena: OnReset(nil) of the nil arena", func() { (*arena.Arena)(nil).OnReset(nil) }},
		{`arena: Trim(-1) of arena "request": want a number of bytes, 0 or more`, func() { a.Trim(-1) }},
		{"arena: Trim(-1) of an arena without a name: want a number of bytes, 0 or more", func() { anon.Trim(-1) }},
		{"arena: Trim(-1) of the nil arena: want a number of bytes, 0 or more", func() { (*arena.Arena)(nil).Trim(-1) }},
		{`arena: Release on arena "request" of a Mark of arena "other"`, func() { a.Release(m) }},
		{`arena: Release on arena "request" of a Mark of the nil arena`, func() { a.Release(arena.Mark{}) }},
		{`arena: Release on the nil arena of a Mark of arena "other"`, func() { (*arena.Arena)(nil).Release(m) }},
		{`arena: Release out of order on arena "other": mark 1 has 1 mark open inside it`, func() { free.Release(m) }},
		{`arena: Release out of order on arena "other": mark 2 is no longer open (released, or ended by Reset)`, func() {
			free.Release(inner)
			free.Release(inner)
		}},
		{`arena: Lane.Reset while arena "request" has an open Mark`, func() {
			m := a.Mark()
			defer a.Release(m)
			l.Reset()
		}},
		{"arena: Config.Limit is -1: want a number of bytes, 0 (no bound) or more", func() { arena.NewArena(arena.Config{Limit: -1}) }},
		{"arena: Config.Retain is -2: want a number of bytes, 0 (the default), or -1 (nothing)", func() { arena.NewPool(arena.Config{Retain: -2}) }},
		{"arena: Config.FirstChunk is -1: want a number of bytes, 0 (the default) or more", func() { arena.NewArena(arena.Config{FirstChunk: -1}) }},
		{"arena: Config.MaxChunk is -7: want a number of bytes, 0 (the default) or more", func() { arena.NewPool(arena.Config{MaxChunk: -7}) }},
		{"arena: NewArena: 2 structs of settings: want one, or none", func() { arena.NewArena(arena.Config{}, arena.Config{}) }},
		{"arena: NewPool: 3 structs of settings: want one, or none", func() { arena.NewPool(arena.Config{}, arena.Config{}, arena.Config{}) }},
		{"arena: Clone of a int: want a pointer, a slice or a string", func() { arena.Clone(5) }},
		{"arena: Clone of a map[int]int: want a pointer, a slice or a string", func() { arena.Clone(map[int]int{}) }},
		{"arena: Clone of a error: want a pointer, a slice or a string", func() { arena.Clone[error](nil) }},
	} {
		panicsWith(t, c.want, c.f)
		checkStats(t, a)
	}
	// All of that left the arenas usable.
	free.Release(m)
	*arena.New[int](a) = 1
	a.Reset()
	checkStats(t, a)
}

// maxBytes is the size of the largest slice: see checkLen.
const maxBytes = 1<<(31+16*(strconv.IntSize/64)) - (1 - strconv.IntSize/64)
