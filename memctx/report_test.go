package memctx_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// report returns a report without what changes from run to run: times, and the
// names of other tests.
func report(t testing.TB, o memctx.ReportOptions, prefix string) string {
	t.Helper()
	var out bytes.Buffer
	if err := memctx.WriteReport(&out, o); err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`at \d{4}-.*`).ReplaceAllString(out.String(), "at T")
	text = regexp.MustCompile(`[0-9.hmµns]+ old`).ReplaceAllString(text, "T old")
	tree, rest, ok := strings.Cut(text, "\nby name\n")
	if !ok {
		t.Fatalf("no names in\n%s", text)
	}
	tree += "\nby name\n"
	for _, line := range strings.SplitAfter(rest, "\n") {
		if strings.HasPrefix(line, prefix) {
			tree += line
		}
	}
	return tree
}

func wantText(t testing.TB, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// inChild runs a test alone in a process, where no name has been used before.
func inChild(t *testing.T) bool {
	t.Helper()
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return false
	}
	check.SampleStacks(0)
	return true
}

func TestReportText(t *testing.T) {
	if !inChild(t) {
		return
	}
	server := memctx.New("server", memctx.Config{Limit: 1 << 20})
	conn := server.Child("conn", memctx.Config{Ident: "17", Reserve: 60_000})
	request := conn.Child("request")
	gone := server.Child("conn", memctx.Config{Ident: "18"})
	fill(t, server, 1000)
	fill(t, conn, 40_000)
	fill(t, request, 3000)
	fill(t, gone, 2000)
	gone.Retain()
	gone.Retain()
	gone.Delete()
	request.Reset()
	fill(t, request, 2000)
	refused(t, conn, 2<<20)
	idle := memctx.New("idle")
	wantText(t, report(t, memctx.ReportOptions{}, ""), `memory contexts at T
server: 1000 bytes in 1 chunk, 45000 in 4 with 3 contexts below, high water 63000, limit 1048576, 0 resets, T old
  conn[17]: 40000 bytes in 1 chunk, 42000 in 2 with 1 context below, high water 43000, 60000 set aside, 0 resets, T old
    request: 2000 bytes in 1 chunk, high water 3000, 1 reset, T old
  conn[18]: 2000 bytes in 1 chunk, high water 2000, 2 leases, deleted, 0 resets, T old
idle: 0 bytes in 0 chunks, high water 0, 0 resets, T old
in all: 45000 bytes in 4 chunks of 5 contexts

by bytes
       40000 server/conn[17]
        2000 server/conn[17]/request
        2000 server/conn[18]
        1000 server
           0 idle

by name
conn: 2 live (1 held) with 42000 bytes in 2 chunks, high water of one 40000; 2 created, 0 deleted, 0 abandoned, 0 dropped, 0 limit errors; 0 idle arenas with 0 bytes, 2 gets (0 hits, 2 misses), 0 puts (0 dropped), 0 trimmed
request: 1 live (0 held) with 2000 bytes in 1 chunk, high water of one 3000; 1 created, 0 deleted, 0 abandoned, 0 dropped, 0 limit errors; 0 idle arenas with 0 bytes, 1 get (0 hits, 1 miss), 0 puts (0 dropped), 0 trimmed
server: 1 live (0 held) with 1000 bytes in 1 chunk, high water of one 1000; 1 created, 0 deleted, 0 abandoned, 0 dropped, 1 limit error; 0 idle arenas with 0 bytes, 1 get (0 hits, 1 miss), 0 puts (0 dropped), 0 trimmed
idle: 1 live (0 held) with 0 bytes in 0 chunks, high water of one 0; 1 created, 0 deleted, 0 abandoned, 0 dropped, 0 limit errors; 0 idle arenas with 0 bytes, 0 gets (0 hits, 0 misses), 0 puts (0 dropped), 0 trimmed
`)
	// A part of it, and few of each list.
	for range 3 {
		fill(t, conn.Child("request"), 500)
	}
	wantText(t, report(t, memctx.ReportOptions{Of: conn, Children: 2, Ranked: 1}, "req"), `memory contexts at T
conn[17]: 40000 bytes in 1 chunk, 43500 in 5 with 4 contexts below, high water 43500, 60000 set aside, 0 resets, T old
  request ×4: 3500 bytes in 4 chunks, T old
    request: 2000 bytes in 1 chunk, high water 3000, 1 reset, T old
    request: 500 bytes in 1 chunk, high water 500, 0 resets, T old
    2 more with 1000 bytes
in all: 43500 bytes in 5 chunks of 5 contexts

by bytes
       40000 server/conn[17]

by name
request: 4 live (0 held) with 3500 bytes in 4 chunks, high water of one 3000; 4 created, 0 deleted, 0 abandoned, 0 dropped, 0 limit errors; 0 idle arenas with 0 bytes, 4 gets (0 hits, 4 misses), 0 puts (0 dropped), 0 trimmed
`)
	wantText(t, report(t, memctx.ReportOptions{Children: 1, Ranked: 2}, "none"), `memory contexts at T
server: 1000 bytes in 1 chunk, 46500 in 7 with 6 contexts below, high water 63000, limit 1048576, 0 resets, T old
  conn ×2: 45500 bytes in 6 chunks, T old
    conn[17]: 40000 bytes in 1 chunk, 43500 in 5 with 4 contexts below, high water 43500, 60000 set aside, 0 resets, T old
      request ×4: 3500 bytes in 4 chunks, T old
        request: 2000 bytes in 1 chunk, high water 3000, 1 reset, T old
        3 more with 1500 bytes
    1 more with 2000 bytes
1 more with 0 bytes of roots not listed
in all: 46500 bytes in 7 chunks of 8 contexts

by bytes
       40000 server/conn[17]
        2000 server/conn[17]/request

by name
`)
	gone.Release()
	gone.Release()
	server.Delete()
	idle.Delete()
	wantText(t, report(t, memctx.ReportOptions{}, "none"), `memory contexts at T
in all: 0 bytes in 0 chunks of 0 contexts

by bytes

by name
`)
}

// Beside the contexts there are caches and pools that have a name, and leaks.
func TestReportSections(t *testing.T) {
	if !inChild(t) {
		return
	}
	cache := slab.NewCache(slab.Config[[100]byte]{Name: "nodes"})
	node := cache.Alloc()
	buffers := pool.NewBytes(pool.BytesConfig{Name: "buffers"})
	buffers.Put(buffers.Get(1000))
	old := memctx.New("old", memctx.Config{MaxAge: 1})
	for time.Since(old.Stats().Created) < 10 {
	}
	text := report(t, memctx.ReportOptions{}, "")
	for _, want := range []string{"\ncaches\n" + cache.Stats().String() + "\n", "\npools\n" + buffers.Stats().String() + "\n", "\nmemory contexts at T\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if want := "leaks\n1 × context old old: 0 bytes, T old\n"; !strings.HasPrefix(text, want) {
		t.Errorf("%s\ndoes not begin with %q", text, want)
	}
	cache.Free(node)
	old.Delete()
}

// Names reach the terminal of who reads the report.
func TestReportQuotes(t *testing.T) {
	check.SampleStacks(0)
	defer check.SampleStacks(128)
	for name, want := range map[string]string{
		"quote \x1b[31mred":     `"quote \x1b[31mred"`,
		"quote two\nlines":      `"quote two\nlines"`,
		"quote \u202eleft":      `"quote \u202eleft"`,
		"quote \x9b31m raw":     "quote \uFFFD31m raw",
		"quote ä % \"x\" (y)":   "quote ä % \"x\" (y)",
		"quote \xff\xfe\x00 \t": `"quote \xff\xfe\x00 \t"`,
	} {
		mc := memctx.New(name, memctx.Config{MaxAge: 1})
		child := mc.Child("quote x", memctx.Config{Ident: name})
		text := report(t, memctx.ReportOptions{Of: mc}, "")
		for _, unwanted := range []string{"\x1b", "\u202e", "\x9b3", "\x00", "two\nlines"} {
			if strings.Contains(text, unwanted) {
				t.Errorf("%q is in the report %q", unwanted, text)
			}
		}
		lines := strings.Split(text, "\n")
		if first := slices.Index(lines, "memory contexts at T") + 1; !strings.HasPrefix(lines[first], want+": 0 bytes") {
			t.Errorf("%q, want %q", lines[first], want)
		}
		// The ranking and the leaks show paths.
		for _, end := range []string{"           0 " + want, " × context " + want + " old: 0 bytes, T old"} {
			if !slices.ContainsFunc(lines, func(line string) bool { return strings.HasSuffix(line, end) }) {
				t.Errorf("no line ends in %q in %q", end, lines)
			}
		}
		child.Delete()
		mc.Delete()
	}
}

func TestReportErrors(t *testing.T) {
	for _, o := range []memctx.ReportOptions{{Children: -1}, {Ranked: -2}} {
		var out bytes.Buffer
		err := memctx.WriteReport(&out, o)
		if want := fmt.Sprintf("memctx: WriteReport with Children %d and Ranked %d: want 0 or more", o.Children, o.Ranked); err == nil || err.Error() != want || out.Len() > 0 {
			t.Errorf("error %v, want %s; %q was written", err, want, out.String())
		}
	}
	for _, json := range []bool{false, true} {
		r, w := io.Pipe()
		r.CloseWithError(errors.ErrUnsupported)
		if err := memctx.WriteReport(w, memctx.ReportOptions{JSON: json}); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("error %v", err)
		}
	}
}

// The JSON is a Snapshot, whole.
func TestReportJSON(t *testing.T) {
	server := memctx.New("json server", memctx.Config{Limit: 1 << 20})
	defer server.Delete()
	conn := server.Child("json conn", memctx.Config{Ident: "\x00<1>", Reserve: 1000})
	arena.New[[100]int](conn.Arena())
	cache := slab.NewCache(slab.Config[int]{Name: "json cache"})
	p := cache.Alloc()
	buffers := pool.NewBytes(pool.BytesConfig{Name: "json buffers"})
	buffers.Put(buffers.Get(100))
	var out bytes.Buffer
	if err := memctx.WriteReport(&out, memctx.ReportOptions{JSON: true, Of: server}); err != nil {
		t.Fatal(err)
	}
	var got memctx.Snapshot
	d := json.NewDecoder(bytes.NewReader(out.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in\n%s", err, out.String())
	}
	if len(got.Contexts) != 2 || len(got.Names) < 2 || len(got.Caches) == 0 || len(got.Pools) == 0 || got.Leaks == nil {
		t.Fatalf("%d contexts, %d names, %d caches, %d pools", len(got.Contexts), len(got.Names), len(got.Caches), len(got.Pools))
	}
	for i, c := range []*memctx.Context{server, conn} {
		s := c.Stats()
		r := got.Contexts[i]
		if r.Age <= 0 || r.Age > s.Age || !r.Created.Equal(s.Created) {
			t.Errorf("%s: created %v, %v old; Stats say %v, %v", s.Path, r.Created, r.Age, s.Created, s.Age)
		}
		r.Age, r.Created, s.Age, s.Created = 0, time.Time{}, 0, time.Time{}
		if want := (memctx.Row{Depth: i, Stats: s}); r != want {
			t.Errorf("row %+v\nwant %+v", r, want)
		}
	}
	for _, n := range got.Names {
		if n.Name == "json conn" && !reflect.DeepEqual(n, namesOf(t, "json conn")) {
			t.Errorf("names %+v\nwant  %+v", n, namesOf(t, "json conn"))
		}
	}
	// Where there is nothing, lists are empty and not null.
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(out.Bytes(), &fields); err != nil {
		t.Fatal(err)
	}
	for name, f := range fields {
		if string(f) == "null" {
			t.Errorf("%s is null", name)
		}
	}
	if len(fields) != 6 || fields["Contexts"] == nil {
		t.Errorf("fields %v", fields)
	}
	cache.Free(p)
	runtime.KeepAlive(buffers)
}
