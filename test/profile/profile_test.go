package profile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A profiled program has a server with connections and requests, a cache and a
// pool.
type profiled struct {
	ways  map[string][]int64 // contexts, chunks and bytes; by names, the innermost first
	cache string             // the cache's and the pool's frame
	pool  string
}

var programs atomic.Int64

// newProfiled makes a program, which ends with the test. Its cache and its pool
// have names that no other has.
func newProfiled(t *testing.T) profiled {
	t.Helper()
	p := profiled{ways: map[string][]int64{}}
	name := fmt.Sprint("profile objects ", programs.Add(1))
	add := func(mc *memctx.Context, way string, n int) {
		if n > 0 {
			arena.MakeSlice[byte](mc.Arena(), n, n)
		}
		own := mc.Stats().Own
		if p.ways[way] == nil {
			p.ways[way] = make([]int64, 3)
		}
		p.ways[way][0]++
		p.ways[way][1] += int64(own.Chunks)
		p.ways[way][2] += int64(own.Bytes)
	}
	server := memctx.New("profile server")
	t.Cleanup(server.Delete)
	add(server, "profile server", 0)
	for i := range 4 {
		conn := server.Child("profile conn", memctx.Config{Ident: fmt.Sprint(i)})
		add(conn, "profile conn<profile server", 5000)
		for j := range 5 {
			request := conn.Child("profile request", memctx.Config{Ident: fmt.Sprint(j)})
			add(request, "profile request<profile conn<profile server", 100_000*(j+1))
			add(request.Child("profile a/b.query<x>::(y)"), "profile a/b.query<x>::(y)<profile request<profile conn<profile server", 1000)
		}
	}
	nodes := slab.NewCache[[100]byte](slab.Config[[100]byte]{Name: name})
	o := nodes.Alloc()
	t.Cleanup(func() { nodes.Free(o) })
	p.cache = "cache " + name
	p.ways[p.cache+"<caches"] = []int64{0, 0, int64(nodes.Stats().Bytes)}
	buffers := pool.NewBytes(pool.BytesConfig{Name: name, Floor: 1}) // no collection takes it
	buffers.Put(buffers.Get(50_000))
	t.Cleanup(func() { buffers.Trim() })
	p.pool = "pool " + name
	p.ways[p.pool+"<pools"] = []int64{0, 0, int64(buffers.Stats().Bytes)}
	return p
}

// writeProfile writes a profile to a file.
func writeProfile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "memctx.pb.gz")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := memctx.WriteProfile(f); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return file
}

// parse reads a profile as pprof does.
func parse(t *testing.T, file string) *profile.Profile {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Error(err)
	}
	return p
}

// Google's own package reads the profile, and finds nothing wrong with it.
func TestProfileParses(t *testing.T) {
	want := newProfiled(t).ways
	before := time.Now()
	file := writeProfile(t)
	p := parse(t, file)
	var types []string
	for _, s := range p.SampleType {
		types = append(types, s.Type+"/"+s.Unit)
	}
	if want := []string{"contexts/count", "chunks/count", "space/bytes"}; !slices.Equal(types, want) || p.DefaultSampleType != "space" {
		t.Errorf("values are %v, first shown is %q", types, p.DefaultSampleType)
	}
	if at := time.Unix(0, p.TimeNanos); at.Before(before) || at.After(time.Now()) {
		t.Errorf("the profile is of %v, written after %v", at, before)
	}
	if !p.HasFunctions() || !p.HasFileLines() {
		t.Error("pprof would look for a program's file")
	}
	for _, s := range p.Sample {
		var way []string
		for _, l := range s.Location {
			if len(l.Line) != 1 {
				t.Fatalf("a location has %d lines", len(l.Line))
			}
			way = append(way, l.Line[0].Function.Name)
		}
		id := strings.Join(way, "<")
		if w, ok := want[id]; ok && !slices.Equal(s.Value, w) {
			t.Errorf("%s has %d, want %d", id, s.Value, w)
		}
		delete(want, id)
		if len(s.Label)+len(s.NumLabel) > 0 {
			t.Errorf("%s has labels", id)
		}
	}
	if len(want) > 0 {
		t.Errorf("not in the profile: %v", want)
	}
}

// pprof runs the tool that comes with Go and returns its report.
func pprof(t *testing.T, args ...string) string {
	t.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("no go tool pprof: %v", err)
	}
	c := exec.Command("go", append([]string{"tool", "pprof"}, args...)...)
	c.Env = append(os.Environ(), "PPROF_TMPDIR="+t.TempDir())
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go tool pprof %q: %v\n%s", args, err, &stderr)
	}
	if strings.Contains(stderr.String(), "filename") {
		t.Errorf("go tool pprof %q looks for a program: %s", args, &stderr)
	}
	return string(out)
}

// go tool pprof shows the tree: what each name has itself, and with what is below.
func TestProfileInPprof(t *testing.T) {
	program := newProfiled(t)
	file := writeProfile(t)

	raw := pprof(t, "-raw", file)
	for _, want := range []string{"contexts/count chunks/count space/bytes[dflt]", "profile a/b.query<x>::(y)", program.cache, program.pool, "[FN]"} {
		if !strings.Contains(raw, want) {
			t.Errorf("-raw has no %q:\n%s", want, raw)
		}
	}

	// Lines are: flat flat% sum% cum cum% name.
	flat, cum := map[string]int{}, map[string]int{}
	for line := range strings.Lines(pprof(t, "-top", "-unit=B", "-nodecount=1000000", "-nodefraction=0", file)) {
		f := strings.Fields(line)
		if len(f) < 6 || !strings.HasSuffix(f[4], "%") {
			continue
		}
		name := strings.Join(f[5:], " ")
		flat[name], cum[name] = inBytes(t, f[0]), inBytes(t, f[3])
	}
	bytes := func(way string) int { return int(program.ways[way][2]) }
	query := bytes("profile a/b.query<x>::(y)<profile request<profile conn<profile server")
	request := bytes("profile request<profile conn<profile server")
	conn := bytes("profile conn<profile server")
	cache := bytes(program.cache + "<caches")
	for _, c := range []struct {
		name      string
		flat, cum int
	}{
		{"profile a/b.query<x>::(y)", query, query},
		{"profile request", request, request + query},
		{"profile conn", conn, conn + request + query},
		{"profile server", 0, conn + request + query},
		{program.cache, cache, cache},
	} {
		if flat[c.name] != c.flat || cum[c.name] != c.cum {
			t.Errorf("-top: %s has %d bytes, and %d with what is below, want %d and %d", c.name, flat[c.name], cum[c.name], c.flat, c.cum)
		}
	}

	if tree := pprof(t, "-tree", "-nodefraction=0", "-edgefraction=0", file); !strings.Contains(tree, "|   profile conn") || !strings.Contains(tree, "| profile request") {
		t.Errorf("-tree shows not what is above and below:\n%s", tree)
	}
	contexts := pprof(t, "-top", "-sample_index=contexts", "-nodefraction=0", file)
	if !strings.Contains(contexts, "Type: contexts") {
		t.Errorf("-sample_index=contexts shows:\n%s", contexts)
	}
}

// inBytes reads what pprof prints with -unit=B.
func inBytes(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.ParseFloat(strings.TrimSuffix(s, "B"), 64)
	if err != nil {
		t.Fatalf("%q is no number of bytes", s)
	}
	return int(n)
}

// A tree that is one long chain has a profile that tools open.
func TestProfileOfDeepTreeParses(t *testing.T) {
	root := memctx.New("profile deep")
	t.Cleanup(root.Delete)
	mc := root
	for range 100_000 {
		mc = mc.Child("profile level")
	}
	file := writeProfile(t)
	p := parse(t, file)
	contexts, deepest := int64(0), 0
	for _, s := range p.Sample {
		if s.Location[len(s.Location)-1].Line[0].Function.Name == "profile deep" {
			contexts += s.Value[0]
			deepest = max(deepest, len(s.Location))
		}
	}
	if contexts != 100_001 || deepest != 512 {
		t.Errorf("%d contexts in stacks of at most %d frames, want 100001 and 512", contexts, deepest)
	}
	if out := pprof(t, "-top", "-sample_index=contexts", "-nodefraction=0", file); !strings.Contains(out, "profile level") {
		t.Errorf("-top shows:\n%s", out)
	}
}
