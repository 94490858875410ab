package memctx_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// Tests leave no context behind.
func TestMain(m *testing.M) {
	code := m.Run()
	testkit.CollectGarbage() // roots that were dropped on purpose
	if v := new(verdict); code == 0 {
		if check.VerifyNone(v); v.text != "" {
			fmt.Fprintln(os.Stderr, v.text)
			code = 1
		}
	}
	os.Exit(code)
}

// A verdict is a TestingT that remembers what it was told.
type verdict struct{ text string }

func (v *verdict) Helper()                           {}
func (v *verdict) Cleanup(func())                    {}
func (v *verdict) Errorf(format string, args ...any) { v.text += fmt.Sprintf(format, args...) }

// fewer returns n, or few with -short, and under the race detector, which takes ten
// times as long and finds nothing in what one goroutine does.
func fewer(n, few int) int {
	if testing.Short() || magazine.Race {
		return few
	}
	return n
}

// checkAll fails the test if something does not add up.
func checkAll(t testing.TB, given ...*memctx.Context) {
	t.Helper()
	if err := memctx.Check(given...); err != nil {
		t.Errorf("%v", err)
	}
}

// namesOf returns the numbers of a name.
func namesOf(t testing.TB, name string) memctx.NameStats {
	t.Helper()
	for s := range memctx.Names() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no name %q", name)
	return memctx.NameStats{}
}

var freshNames atomic.Int64

// freshName returns a name that no context had, also where tests run many times.
func freshName(name string) string { return fmt.Sprintf("%s %d", name, freshNames.Add(1)) }

// checkNames fails the test unless all contexts of the names are accounted for.
func checkNames(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		if s := namesOf(t, name); s.Created != uint64(s.Live)+s.Deleted+s.Abandoned+s.Dropped {
			t.Errorf("does not add up: %v", s)
		}
	}
}

// walked returns the paths that Walk sees, each with its depth.
func walked(c *memctx.Context) (list []string) {
	c.Walk(func(c *memctx.Context, depth int) bool {
		list = append(list, fmt.Sprint(depth, " ", c.Path()))
		return true
	})
	return list
}

func TestPlace(t *testing.T) {
	server := memctx.New("server")
	defer server.Delete()
	conn := server.Child("conn", memctx.Config{Ident: "17"})
	request := conn.Child("request")
	other := server.Child("conn", memctx.Config{Ident: "18"})
	for _, x := range []struct {
		c                 *memctx.Context
		name, ident, path string
		parent            *memctx.Context
	}{
		{server, "server", "", "server", nil},
		{conn, "conn", "17", "server/conn[17]", server},
		{request, "request", "", "server/conn[17]/request", conn},
		{other, "conn", "18", "server/conn[18]", server},
		{nil, "", "", "(no context)", nil},
	} {
		if x.c.Name() != x.name || x.c.Ident() != x.ident || x.c.Path() != x.path || x.c.Parent() != x.parent {
			t.Errorf("%q, %q, %q, below %q; want %+v", x.c.Name(), x.c.Ident(), x.c.Path(), x.c.Parent().Path(), x)
		}
	}
	want := []string{"0 server", "1 server/conn[17]", "2 server/conn[17]/request", "1 server/conn[18]"}
	if got := walked(server); !slices.Equal(got, want) {
		t.Errorf("Walk saw %q, want %q", got, want)
	}
	if got, want := walked(conn), []string{"0 server/conn[17]", "1 server/conn[17]/request"}; !slices.Equal(got, want) {
		t.Errorf("Walk saw %q, want %q", got, want)
	}
	request.Delete()
	if request.Path() != "server/conn[17]/request" || request.Parent() != conn || request.Name() != "request" {
		t.Errorf("a deleted context is %q below %q", request.Path(), request.Parent().Path())
	}
	if s := conn.String(); !strings.HasPrefix(s, "server/conn[17]: 0 bytes in 0 chunks, high water 0, 0 resets, ") {
		t.Errorf("String is %q", s)
	}
	if s := server.String(); !strings.HasPrefix(s, "server: 0 bytes in 0 chunks, 0 in 0 with 2 contexts below, high water 0, 0 resets, ") {
		t.Errorf("String is %q", s)
	}
}

// Where f returns false Walk leaves out what is below; what f does, it sees.
func TestWalk(t *testing.T) {
	root := memctx.New("walk")
	defer root.Delete()
	for i := range 3 {
		c := root.Child("conn", memctx.Config{Ident: fmt.Sprint(i)})
		c.Child("request")
		c.Child("request").Child("query")
	}
	var got []string
	root.Walk(func(c *memctx.Context, depth int) bool {
		got = append(got, c.Path())
		switch c.Ident() {
		case "0":
			c.Child("new")
			c.Child("new").Delete()
		case "2":
			c.Reset()
		}
		return c.Ident() != "1"
	})
	want := []string{"walk", "walk/conn[0]", "walk/conn[0]/request", "walk/conn[0]/request", "walk/conn[0]/request/query",
		"walk/conn[0]/new", "walk/conn[1]", "walk/conn[2]"}
	if !slices.Equal(got, want) {
		t.Errorf("saw %q\nwant %q", got, want)
	}
	checkAll(t, root)
}

// Roots are listed in the order in which they became roots, until their end, and
// also while a lease holds them.
func TestRoots(t *testing.T) {
	roots := func() (list []string) {
		for c := range memctx.Roots() {
			if strings.HasPrefix(c.Name(), "roots") {
				list = append(list, c.Name())
			}
		}
		return list
	}
	a, b, c, d := memctx.New("roots a"), memctx.New("roots b"), memctx.New("roots c"), memctx.New("roots d")
	moved := a.Child("roots moved")
	if err := moved.SetParent(nil); err != nil {
		t.Fatal(err)
	}
	if err := b.SetParent(a); err != nil {
		t.Fatal(err)
	}
	c.Retain()
	c.Delete()
	d.Abandon()
	if got, want := roots(), []string{"roots a", "roots c", "roots moved"}; !slices.Equal(got, want) {
		t.Errorf("roots %q, want %q", got, want)
	}
	d.Retain()
	d.Delete()
	c.Release()
	a.Delete()
	if got, want := roots(), []string{"roots moved"}; !slices.Equal(got, want) {
		t.Errorf("roots %q, want %q", got, want)
	}
	d.Release()
	for range 2 { // it is listed once
		if err := moved.SetParent(memctx.New("roots e")); err != nil {
			t.Fatal(err)
		}
		e := moved.Parent()
		if err := moved.SetParent(nil); err != nil {
			t.Fatal(err)
		}
		if got, want := roots(), []string{"roots moved", "roots e"}; !slices.Equal(got, want) {
			t.Errorf("roots %q, want %q", got, want)
		}
		e.Delete()
	}
	moved.Delete()
	if got := roots(); len(got) > 0 {
		t.Errorf("roots %q, want none", got)
	}
	for range memctx.Roots() {
		break
	}
	for range memctx.Names() {
		break
	}
}

// A context without an arena asks for one when it needs it, and keeps it. The next
// context of the name gets it warm.
func TestArenaIsWarm(t *testing.T) {
	// The next context asks on the P on which the last one ended.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	type warm [40]uint64
	name, other := freshName("warm"), freshName("warm other")
	server := memctx.New("warm server")
	defer server.Delete()
	before := memctx.NameStats{}
	for i := range 5 {
		c := server.Child(name, memctx.Config{Ident: fmt.Sprint(i)})
		if s := c.Stats(); s.Own.Bytes != 0 {
			t.Errorf("%v before it was used", s)
		}
		a := c.Arena()
		if c.Arena() != a {
			t.Error("the second call of Arena returned another one")
		}
		s := a.Stats()
		switch {
		case s.Name != name || s.InUse != 0:
			t.Errorf("the arena is %v", s)
		case s.Resets != uint64(i) || i > 1 && s.Reserved == 0: // the first round took several chunks
			t.Errorf("the arena is not the warm one: %v", s)
		}
		if own := c.Stats().Own; own.Bytes != s.Reserved || own.Chunks != s.Chunks || own.HighWater != s.Reserved {
			t.Errorf("%+v for a warm arena %v", own, s)
		}
		for range 20 {
			if w := arena.New[warm](a); *w != (warm{}) {
				t.Fatal("memory is not zero")
			} else {
				w[7] = 1
			}
		}
		checkAll(t, c)
		c.Delete()
		n := namesOf(t, name)
		if n.Warm.Idle != 1 || n.Warm.Misses != 1 || n.Warm.Hits != uint64(i) || n.Bytes != 0 || n.HighWater < 20*320 {
			t.Errorf("after Delete: %v", n)
		}
		before = n
	}
	// Of another name, and without a name's arena, nothing is warm.
	c := server.Child(other)
	if s := c.Arena().Stats(); s.Resets != 0 || s.Name != other {
		t.Errorf("the arena is %v", s)
	}
	server.Child(name).Delete()
	if n := namesOf(t, name); n.Warm.Gets != before.Warm.Gets {
		t.Errorf("a context that asked for no arena took one: %v", n)
	}
	checkNames(t, name, other, "warm server")
}

// A steady program allocates nothing, not the context either.
func TestSteady(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	server := memctx.New("steady server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	check.SampleStacks(0)
	defer check.SampleStacks(128)
	n := testing.AllocsPerRun(200, func() {
		c := server.Child("steady", memctx.Config{Limit: 1 << 16})
		for range 2 {
			c.Reset()
			for range 100 {
				arena.New[[5]*int](c.Arena())
			}
		}
		c.Delete()
	})
	if n != 1 {
		t.Errorf("%v allocs/op, want that of the Context", n)
	}
}

// Without a context everything works, on Go's heap.
func TestNilContext(t *testing.T) {
	var c *memctx.Context
	if a := c.Arena(); a != nil {
		t.Error("a nil context has an arena")
	}
	*arena.New[int](c.Arena()) = 1
	if x := c.Child("x", memctx.Config{Limit: -1}); x != nil {
		t.Error("a nil context has a child")
	}
	if x, err := c.TryChild("", memctx.Config{Ident: "1"}); x != nil || err != nil {
		t.Error("a nil context has a child")
	}
	ran := false
	c.OnReset(func() { ran = true })
	c.Reset()
	c.ResetChildren()
	c.Retain()()
	c.Abandon()
	c.Delete()
	c.Delete()
	if err := c.SetParent(c); err != nil || ran {
		t.Errorf("error %v, callback ran: %t", err, ran)
	}
	c.Walk(func(*memctx.Context, int) bool {
		t.Error("Walk of a nil context saw one")
		return true
	})
	if s := c.Stats(); s != (memctx.Stats{}) || c.String() != "no memory context" || c.Ident() != "" || c.Name() != "" {
		t.Errorf("%+v, %q", s, c)
	}
	server := memctx.New("server")
	if err := server.SetParent(c); err != nil || server.Parent() != nil {
		t.Errorf("SetParent(nil) of a root: %v", err)
	}
	server.Delete()
}

// Names beyond a bound share one; what was given first stays apart.
func TestManyNames(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	root := memctx.New("root")
	buf := []byte("name 00000")
	for i := range memctx.MaxKinds + 100 {
		copy(buf[5:], fmt.Sprintf("%05d", i))
		c := root.Child(unsafe.String(&buf[0], len(buf))) // which changes with buf, as names in arenas do
		want := string(buf)
		if i >= memctx.MaxKinds-1 {
			want = memctx.OtherNames
		}
		clear(buf[5:])
		if c.Name() != want || c.Path() != "root/"+want {
			t.Fatalf("name %q of the %dth, want %q", c.Name(), i, want)
		}
	}
	if n := namesOf(t, memctx.OtherNames); n.Live != 101 || n.Created != 101 {
		t.Errorf("%v", n)
	}
	if n := namesOf(t, "name 00077"); n.Live != 1 {
		t.Errorf("%v", n)
	}
	n := 0
	last := ""
	for s := range memctx.Names() {
		if n++; s.Name <= last {
			t.Fatalf("%q comes behind %q", s.Name, last)
		}
		last = s.Name
	}
	if n != memctx.MaxKinds+1 {
		t.Errorf("%d names", n)
	}
	root.Delete()
	checkNames(t, memctx.OtherNames, "name 00001")
}

// smallStack makes recursion crash this process.
func smallStack(t *testing.T) (ok bool) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return false
	}
	debug.SetMaxStack(1 << 18)
	return true
}

// chain makes a tree of one branch, and returns all of it.
func chain(depth int, conf ...memctx.Config) []*memctx.Context {
	list := []*memctx.Context{memctx.New("chain")}
	for i := range depth {
		list = append(list, list[i].Child("level", conf...))
	}
	return list
}

// A tree may be as deep as it likes: nothing recurses, and each operation costs
// steps in proportion to the depth at most.
func TestDeepTree(t *testing.T) {
	if !smallStack(t) {
		return
	}
	depth := fewer(100_000, 20_000)
	list := chain(depth)
	root, last := list[0], list[depth]
	ran := 0
	for i, c := range list {
		arena.New[int](c.Arena())
		c.OnReset(func() {
			if i != depth-ran {
				t.Errorf("callback of level %d is the %dth", i, ran)
			}
			ran++
		})
	}
	wantPath := "chain" + strings.Repeat("/level", 7) + "/…" + strings.Repeat("/level", 24)
	if p := last.Path(); p != wantPath {
		t.Errorf("path %s, want %s", p, wantPath)
	}
	if s := root.Stats(); s.Contexts != depth+1 || s.Total.Chunks != depth+1 {
		t.Errorf("%v", s)
	}
	n := 0
	root.Walk(func(c *memctx.Context, depth int) bool {
		if c != list[n] || depth != n {
			t.Errorf("Walk saw a context at depth %d as the %dth", depth, n)
		}
		n++
		return true
	})
	if n != depth+1 {
		t.Errorf("Walk saw %d contexts", n)
	}
	for _, json := range []bool{false, true} {
		var out bytes.Buffer
		err := memctx.WriteReport(&out, memctx.ReportOptions{JSON: json})
		if n := out.Len(); err != nil || n > memctx.ListRows*1000 || json != strings.Contains(out.String(), wantPath) {
			t.Errorf("report of %d bytes: %v", n, err)
		}
	}
	if err := last.SetParent(root); err != nil {
		t.Error(err)
	}
	if err := list[1].SetParent(last); err != nil {
		t.Error(err)
	}
	if err := list[1].SetParent(root); err != nil {
		t.Error(err)
	}
	if err := last.SetParent(list[depth-1]); err != nil {
		t.Error(err)
	}
	checkAll(t, root)
	root.ResetChildren()
	if ran != depth {
		t.Errorf("%d callbacks ran, want %d", ran, depth)
	}
	ran = depth
	root.Reset()
	if ran != depth+1 || root.Stats().Contexts != 1 {
		t.Errorf("%d callbacks ran; %v", ran, root)
	}
	root.Delete()

	list = chain(depth)
	list[0].Abandon()
	list[0].Delete()
	list = chain(depth)
	last = list[depth]
	last.Retain()
	list[0].Delete()
	if memctx.StateOf(list[0]) != "ended" || memctx.StateOf(list[1]) != "ended" {
		t.Error("a held context does not hold those above it")
	}
	last.Release()
	if memctx.StateOf(list[0]) != "gone" {
		t.Error("contexts did not end with the last lease")
	}
	checkNames(t, "chain", "level")
}

// So may limits be.
func TestDeepLimits(t *testing.T) {
	if !smallStack(t) {
		return
	}
	depth := fewer(20_000, 5000)
	list := chain(depth, memctx.Config{Limit: 1 << 30})
	root, last := list[0], list[depth]
	if _, err := arena.TryMakeSlice[byte](last.Arena(), 1<<20, 1<<20); err != nil {
		t.Error(err)
	}
	checkAll(t, root)
	if n := memctx.Taken(list[1]); n < 1<<20 {
		t.Errorf("level 1 counts %d bytes", n)
	}
	_, err := arena.TryMakeSlice[byte](last.Arena(), 1<<30, 1<<30)
	if !isLimit(err) || len(err.(*arena.LimitError).Chain) != memctx.MaxChain {
		t.Errorf("error %v", err)
	}
	if err := last.SetParent(nil); err != nil {
		t.Error(err)
	}
	checkAll(t, root, last)
	if err := last.SetParent(list[depth/2]); err != nil {
		t.Error(err)
	}
	checkAll(t, root)
	root.Delete()
	if n := memctx.Taken(list[1]); n != 0 {
		t.Errorf("%d bytes left", n)
	}
}

// A tree may be as wide as it likes: with a step that costs anything in proportion
// to the number of siblings this test would not come to its end.
func TestWideTree(t *testing.T) {
	n := fewer(1_000_000, 100_000)
	root := memctx.New("wide")
	ran := 0
	list := make([]*memctx.Context, n)
	for i := range list {
		list[i] = root.Child("leaf")
		if i%1000 == 0 {
			list[i].OnReset(func() {
				if ran++; i != n-ran*1000 {
					t.Errorf("callback of leaf %d is the %dth", i, ran)
				}
			})
		}
	}
	if s := root.Stats(); s.Contexts != n+1 || s.Children != n {
		t.Errorf("%v", s)
	}
	for i := 1; i < n; i += 7 {
		if i%1000 > 0 {
			list[i].Delete()
		}
	}
	var out bytes.Buffer
	if err := memctx.WriteReport(&out, memctx.ReportOptions{Of: root}); err != nil || out.Len() > 1<<20 {
		t.Errorf("a report of %d bytes: %v", out.Len(), err)
	}
	root.Delete()
	if ran != n/1000 {
		t.Errorf("%d callbacks ran", ran)
	}
	if memctx.StateOf(list[n/2]) != "gone" {
		t.Error("a child is still there")
	}
	runtime.KeepAlive(list)
	checkNames(t, "wide", "leaf")
}
