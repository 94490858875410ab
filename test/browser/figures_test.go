package browser

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// rowsOf is JavaScript that returns the rows of a table by name, with the exact
// figures in them.
func rowsOf(table string) string {
	return fmt.Sprintf(`Object.fromEntries([...document.querySelectorAll("#%s tbody tr")].map((tr) =>
		[tr.cells[0].textContent, [...tr.querySelectorAll("data")].map((d) => Number(d.value))]))`, table)
}

// equal waits until what the page shows is what the objects say. They are at rest,
// but for what a garbage collection trims, so it takes one question of the page's.
func equal[T any](b *tab, what, expression string, want func() T) {
	b.t.Helper()
	var got, w T
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		got, w = eval[T](b, expression), want()
		if reflect.DeepEqual(got, w) {
			return
		}
	}
	b.t.Errorf("%s: the page shows\n%v\nand the objects say\n%v", what, got, w)
}

func TestCaches(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.open(serve())
	figures := func(s slab.Stats) []float64 {
		list := []int{s.InUse, s.Objects, s.ObjectSize, s.PerSlab, s.SlabsInUse, s.Slabs, s.Bytes,
			int(s.Hits), int(s.Misses), int(s.Frees), s.Magazines, s.Cached, s.Depot}
		if s.Capacity > 0 {
			list = append(list, s.Capacity)
		}
		return floats(list)
	}
	equal(b, "caches", rowsOf("caches"), func() map[string][]float64 {
		return map[string][]float64{"sessions": figures(s.sessions.Stats()), "timers": figures(s.timers.Stats())}
	})
}

func TestPools(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.open(serve())
	equal(b, "pools", rowsOf("pools"), func() map[string][]float64 {
		want := map[string][]float64{}
		for _, p := range []pool.Stats{s.encoders.Stats(), s.frames.Stats()} {
			list := []int{int(p.Hits), int(p.Misses), int(p.Puts), p.InUse, p.HighWater, p.Idle, p.Bytes, p.Floor}
			if p.Max > 0 {
				list = append(list, p.Max)
			}
			if p.MaxBytes > 0 {
				list = append(list, p.MaxBytes)
			}
			want[p.Name] = floats(append(list, int(p.Trimmed), int(p.Dropped())))
			for _, c := range p.Classes {
				want[sizes[c.Size]] = floats([]int{int(c.Hits), int(c.Misses), int(c.Puts), c.InUse, c.Idle, int(c.Trimmed), int(c.Dropped)})
			}
		}
		return want
	})
}

// sizes are the names of the size classes that the scene uses.
var sizes = map[int]string{1024: "1.0 KiB", 1536: "1.5 KiB", 20480: "20.0 KiB", 40960: "40.0 KiB", 57344: "56.0 KiB"}

func floats(list []int) (f []float64) {
	for _, n := range list {
		f = append(f, float64(n))
	}
	return f
}

// contexts returns the figures of all contexts that there are.
func contexts() (list []memctx.Stats) {
	for r := range memctx.Roots() {
		r.Walk(func(c *memctx.Context, _ int) bool {
			list = append(list, c.Stats())
			return true
		})
	}
	return list
}

func TestContexts(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.open(serve())

	total := func() (bytes float64) {
		for r := range memctx.Roots() {
			bytes += float64(r.Stats().Total.Bytes)
		}
		return bytes
	}
	equal(b, "bytes in contexts", `Number(document.querySelector("#tile-context-bytes data").value)`, total)
	equal(b, "contexts", `Number(document.querySelector("#tile-contexts data").value)`, func() float64 { return float64(len(contexts())) })

	equal(b, "names", rowsOf("names"), func() map[string][]float64 {
		want := map[string][]float64{}
		for n := range memctx.Names() {
			want[n.Name] = floats([]int{n.Usage.Bytes, n.Live, n.Held, n.Usage.HighWater, int(n.Created), int(n.Deleted), int(n.Abandoned),
				int(n.Dropped), int(n.LimitErrors), n.Warm.Idle, n.Warm.Reserved})
		}
		return want
	})
	equal(b, "largest contexts", rowsOf("ranked"), func() map[string][]float64 {
		list := contexts()
		slices.SortStableFunc(list, func(a, b memctx.Stats) int { return cmp.Compare(b.Own.Bytes, a.Own.Bytes) })
		want := map[string][]float64{}
		for _, c := range list[:20] {
			name := c.Path
			if c.Deleted {
				name += " deleted"
			}
			want[name] = floats([]int{c.Own.Bytes, c.Own.Chunks, c.Own.HighWater, c.Total.Bytes, c.Leases, int(c.Resets)})
		}
		return want
	})
	equal(b, "limits", strings.Replace(rowsOf("limits"), `tbody tr")]`, `tbody tr")].filter((tr) => !tr.querySelector("details"))`, 1), func() map[string][]float64 {
		type limited struct {
			name        string
			used, limit int
		}
		x, p, f := s.sessions.Stats(), s.encoders.Stats(), s.frames.Stats()
		list := []limited{{"sessions", x.InUse, x.Capacity}, {"encoders, idle", p.Idle, p.Max}, {"frames, idle", f.Bytes, f.MaxBytes}}
		for _, c := range contexts() {
			if c.Limit > 0 && c.Name != "conn" { // which are a group, see TestGroups
				list = append(list, limited{c.Path, c.Total.Bytes, c.Limit})
			}
		}
		want := map[string][]float64{}
		for _, l := range list {
			want[l.name] = floats([]int{l.used, l.limit})
		}
		return want
	})

	// What the icicle says of one box, and how wide it is.
	for _, x := range []struct {
		c     *memctx.Context
		label string
	}{{s.index, "index"}, {s.server, "server"}, {s.conns[18], "conn[18]"}, {s.held, "request[GET /report]"}} {
		c, label, all := x.c, x.label, total()
		if c == s.conns[18] {
			b.run(chromedp.Click("#icicle-boxes .box[aria-label^='conn ×40,']", chromedp.ByQuery))
		}
		if c == s.conns[18] || c == s.held {
			all = float64(s.server.Stats().Total.Bytes - s.server.Stats().Own.Bytes)
		}
		box := fmt.Sprintf("document.querySelector(`#icicle-boxes .box[aria-label^=%q]`)", label+",")
		eval[any](b, box+`.focus()`)
		want := c.Stats()
		got := eval[map[string]string](b, `Object.fromEntries([...document.querySelectorAll("#icicle-detail div")].map((d) =>
			[d.children[0].textContent, d.querySelector("data")?.value ?? d.children[1].textContent]))`)
		for name, want := range map[string]any{"context": want.Path, "with all below": want.Total.Bytes, "own": want.Own.Bytes, "peak": want.Total.HighWater,
			"chunks": want.Total.Chunks, "contexts": want.Contexts, "leases": want.Leases, "resets": want.Resets} {
			if got[name] != fmt.Sprint(want) {
				t.Errorf("%s: %s is %q on the page, and the context says %v", label, name, got[name], want)
			}
		}
		if want.Limit > 0 && got["limit"] != fmt.Sprint(want.Limit) {
			t.Errorf("%s: the limit is %q on the page, and the context says %d", label, got["limit"], want.Limit)
		}
		if want.Deleted != (got["state"] != "") {
			t.Errorf("%s: the state is %q", label, got["state"])
		}
		width := eval[float64](b, box+`.getBoundingClientRect().width`)
		whole := eval[float64](b, `document.querySelector("#icicle-boxes").getBoundingClientRect().width`)
		if exact := whole * float64(want.Total.Bytes) / all; math.Abs(width-exact) > 6 { // the narrowest boxes are widened
			t.Errorf("the box of %s is %.1f wide of %.1f, and its bytes are %.1f", label, width, whole, exact)
		}
	}
}

// TestLeaks finds the stack of what the scene forgot.
func TestLeaks(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.open(serve())
	const leak = `[...document.querySelectorAll("#leaks .leak")].find((a) => a.querySelector("h3").textContent === "dropped context batch")`
	b.until("the leak is there", leak)
	var want check.Finding
	for _, l := range check.Leaks() {
		if l.Name == "batch" {
			want = l
		}
	}
	if got := eval[string](b, leak+`.querySelector("pre").textContent`); got != want.Stack || got == "" {
		t.Errorf("the stack on the page is\n%s\nwant\n%s", got, want.Stack)
	}
	if got := eval[string](b, leak+`.querySelector("data").value`); got != fmt.Sprint(want.Count) {
		t.Errorf("found %s times, want %d", got, want.Count)
	}
	// What was opened stays open while the page asks again.
	eval[any](b, `void (window.opened = `+leak+`.querySelector("details")); window.opened.open = true`)
	time := eval[string](b, `document.getElementById("time").dateTime`)
	b.until("the page asks again", fmt.Sprintf(`document.getElementById("time").dateTime !== %q`, time))
	if !eval[bool](b, `window.opened.isConnected && window.opened.open`) {
		t.Error("an open stack closes when the page asks again")
	}
}
