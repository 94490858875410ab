package memctx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// profiled returns the samples of a profile that have the word in one of their
// frames.
func profiled(t *testing.T, word string) (lines []string) {
	t.Helper()
	var out bytes.Buffer
	if err := memctx.WriteProfile(&out); err != nil {
		t.Fatal(err)
	}
	for _, l := range testkit.ReadProfile(t, out.Bytes()) {
		if strings.HasSuffix(l, "]") && strings.Contains(l, word) {
			lines = append(lines, l)
		}
	}
	return lines
}

func wantLines(t *testing.T, got, want []string) {
	t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestProfileHead(t *testing.T) {
	var out bytes.Buffer
	if err := memctx.WriteProfile(&out); err != nil {
		t.Fatal(err)
	}
	lines := testkit.ReadProfile(t, out.Bytes())
	for _, want := range []string{"type contexts count", "type chunks count", "type space bytes", "default space"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in %q", want, lines)
		}
	}
}

// Each way is a stack with the sums of its contexts, whatever their identities.
func TestProfileWays(t *testing.T) {
	server := memctx.New("ways server")
	defer server.Delete()
	sums := map[string]memctx.Usage{}
	counts := map[string]int{}
	add := func(mc *memctx.Context, way string, n int) {
		if n > 0 {
			arena.MakeSlice[byte](mc.Arena(), n, n)
		}
		own, sum := mc.Stats().Own, sums[way]
		sums[way] = memctx.Usage{Bytes: sum.Bytes + own.Bytes, Chunks: sum.Chunks + own.Chunks}
		counts[way]++
	}
	add(server, "ways server", 0)
	for i := range 3 {
		conn := server.Child("conn", memctx.Config{Ident: fmt.Sprint(i)})
		add(conn, "conn<ways server", 1000*i)
		for j := range 4 {
			request := conn.Child("request", memctx.Config{Ident: fmt.Sprint(j)})
			add(request, "request<conn<ways server", 100_000*j)
			add(request.Child("conn"), "conn<request<conn<ways server", 50)
		}
	}
	add(server.Child("request"), "request<ways server", 70_000)
	var want []string
	for way, sum := range sums {
		want = append(want, fmt.Sprintf("%s [%d %d %d]", way, counts[way], sum.Chunks, sum.Bytes))
	}
	wantLines(t, profiled(t, "ways server"), want)
	if sum := sums["request<conn<ways server"]; sum.Bytes < 1_800_000 || counts["request<conn<ways server"] != 12 {
		t.Errorf("nothing to see: %+v", sums)
	}
}

// What a lease holds is in use; what was deleted, or abandoned, is not in the tree.
func TestProfileOfEnded(t *testing.T) {
	server := memctx.New("ended server")
	defer server.Delete()
	held, deleted, left := server.Child("held"), server.Child("deleted"), server.Child("left")
	held.Retain()
	held.Delete()
	deleted.Delete()
	left.Abandon()
	wantLines(t, profiled(t, "ended server"), []string{"ended server [1 0 0]", "held<ended server [1 0 0]"})
	held.Release()
	wantLines(t, profiled(t, "ended server"), []string{"ended server [1 0 0]"})
	runtime.KeepAlive(left)
}

// A chain of any length is cut, and what is below the cut counts for it. Without
// the cut this profile would have five billion frames.
func TestProfileOfDeepTree(t *testing.T) {
	const depth = 100_000
	root := memctx.New("deep root")
	defer root.Delete()
	mc := root
	for range depth - 1 {
		mc = mc.Child("deep")
	}
	arena.New[[1000]byte](mc.Arena())
	own := mc.Stats().Own
	got := profiled(t, "deep root")
	way := "deep root"
	var want []string
	for range 511 {
		want = append(want, way+" [1 0 0]")
		way = "deep<" + way
	}
	way = strings.Replace(way, "deep<", "…<", 1)
	want = append(want, fmt.Sprintf("%s [%d %d %d]", way, depth-511, own.Chunks, own.Bytes))
	if len(got) != len(want) {
		t.Fatalf("%d samples, want %d", len(got), len(want))
	}
	wantLines(t, got, want)
}

// A tree of 512 levels is whole but for the name of the last.
func TestProfileCut(t *testing.T) {
	root := memctx.New("cut root")
	defer root.Delete()
	mc := root
	for i := range 510 {
		mc = mc.Child(fmt.Sprint("cut ", i))
	}
	if got := profiled(t, "cut root"); len(got) != 511 || slices.ContainsFunc(got, func(l string) bool { return strings.Contains(l, "…") }) {
		t.Errorf("%d samples of 511 levels, one of them %.50s", len(got), got[len(got)-1])
	}
	mc.Child("this").Child("below")
	mc.Child("that")
	got := profiled(t, "cut root")
	slices.Sort(got)
	// … sorts behind all else.
	if last := got[len(got)-1]; len(got) != 512 || !strings.HasPrefix(last, "…<cut 509<cut 508<") || !strings.HasSuffix(last, "<cut root [3 0 0]") {
		t.Errorf("%d samples, want 512, the cut one %.100s", len(got), last)
	}
}

// profileRuns makes names of caches and pools that those of earlier runs, which may
// be alive still, do not have.
var profileRuns atomic.Int64

// Caches, pools and warm arenas are beside the contexts, and cannot be taken for
// them.
func TestProfileRest(t *testing.T) {
	name := fmt.Sprintf("rest%d ", profileRuns.Add(1))
	nodes := slab.NewCache[[100]byte](slab.Config[[100]byte]{Name: name + "nodes"})
	n := nodes.Alloc()
	buffers := pool.NewBytes(pool.BytesConfig{Name: name + "buffers", Floor: 1}) // no collection takes it
	buffers.Put(buffers.Get(5000))
	empty := pool.NewBytes(pool.BytesConfig{Name: name + "empty"})
	mc := memctx.New(name + "nodes")
	arena.New[[1000]byte](mc.Arena())
	mc.Delete()
	var warm memctx.NameStats
	for s := range memctx.Names() {
		if s.Name == name+"nodes" {
			warm = s
		}
	}
	wantLines(t, profiled(t, " "+name), []string{
		fmt.Sprintf("cache %snodes<caches [0 0 %d]", name, nodes.Stats().Bytes),
		fmt.Sprintf("pool %sbuffers<pools [0 0 %d]", name, buffers.Stats().Bytes),
		fmt.Sprintf("warm %snodes<warm arenas [0 0 %d]", name, warm.Warm.Reserved),
	})
	if warm.Warm.Reserved < 1000 || buffers.Stats().Bytes < 5000 {
		t.Errorf("nothing to see: %+v, %v", warm, buffers.Stats())
	}
	nodes.Free(n)
	runtime.KeepAlive(empty)
}

// Names reach the terminal of who looks at the profile.
func TestProfileNames(t *testing.T) {
	for name, want := range map[string]string{
		"names: \x1b[31mred":          `"names: \x1b[31mred"`,
		"names: two\nlines":           `"names: two\nlines"`,
		"names: \xff\xfe!":            "names: \uFFFD!",
		"names: _Z3foov":              "names: _Z3foov",
		"names: a::b<c>(d) 100 % \"ä": "names: a::b<c>(d) 100 % \"ä",
	} {
		mc := memctx.New(name)
		wantLines(t, profiled(t, "names: "), []string{want + " [1 0 0]"})
		mc.Delete()
	}
}

func TestProfileNamesOfRest(t *testing.T) {
	name := fmt.Sprintf("red%d \x1b[31m", profileRuns.Add(1))
	c := slab.NewCache[[100]byte](slab.Config[[100]byte]{Name: name})
	o := c.Alloc()
	frame := strings.Trim(fmt.Sprintf("%q", name), `"`)
	wantLines(t, profiled(t, frame), []string{fmt.Sprintf(`cache "%s"<caches [0 0 %d]`, frame, c.Stats().Bytes)})
	c.Free(o)
}

func TestProfileError(t *testing.T) {
	r, w := io.Pipe()
	r.CloseWithError(errors.ErrUnsupported)
	if err := memctx.WriteProfile(w); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want %v", err, errors.ErrUnsupported)
	}
}

// Profiles are whole while trees change.
func TestProfileWhileWorking(t *testing.T) {
	server := memctx.New("busy server")
	defer server.Delete()
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				select {
				case <-stop:
					return
				default:
				}
				conn := server.Child("busy conn")
				request := conn.Child("busy request")
				arena.New[[100]byte](request.Arena())
				if err := request.SetParent(server); err != nil {
					t.Error(err)
				}
				conn.Delete()
				request.Delete()
			}
		}()
	}
	for range 50 {
		for _, l := range profiled(t, "busy ") {
			stack, _, _ := strings.Cut(l, " [")
			switch stack {
			case "busy server", "busy conn<busy server", "busy request<busy conn<busy server", "busy request<busy server", "warm busy request<warm arenas":
			default:
				t.Errorf("a sample %s", l)
			}
		}
	}
	close(stop)
	wg.Wait()
}
