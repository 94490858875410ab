package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A row of a table of comparisons: a variant of a case against another, in one column.
type row struct{ label, work, variant, against, title string }

// Rows of README.md, of which some lose.
var short = []row{
	{"a request of 80 objects, arena from a Pool", "request/live=0", "arena+pool", "new", "time"},
	{"the same with a fresh arena for each", "request/live=0", "arena+fresh", "new", "time"},
	{"a node of a tree, arena reset for each tree", "tree/nodes=131071", "arena+reset", "new", "time"},
	{"parsing JSON", "jsontree", "arena+pool", "new", "time"},
	{"GC CPU of a collection beside a tree of 8 million nodes", "resident/nodes=8388607", "bump", "new", "GC CPU/cycle"},
	{"the same, linked by handles", "handles/nodes=8388607", "table", "new", "GC CPU/cycle"},
	{"a step through that tree", "handles/nodes=8388607", "table", "new", "walk/node"},
	{"Alloc and Free of a `slab.Cache`, one goroutine", "slabpair/goroutines=1", "cache", "sync.Pool", "time"},
	{"the same with all Ps busy", "slabpair/goroutines=all", "cache", "sync.Pool", "time"},
	{"Alloc and Free of a `slab.Local`, one goroutine", "slabpair/goroutines=1", "local", "sync.Pool", "time"},
	{"Get and Put of a `pool.Pool` and its record", "payment", "pool.Pool", "sync.Pool", "time"},
	{"Get and Put of 1 KiB of `pool.Bytes`", "slabpair/buffer=1KiB", "pool.Bytes", "sync.Pool", "time"},
}

// Rows of the page, by question.
var (
	pooled = []row{
		{"one goroutine", "slabpair/goroutines=1", "cache", "sync.Pool", "time"},
		{"one goroutine", "slabpair/goroutines=1", "local", "sync.Pool", "time"},
		{"all Ps busy", "slabpair/goroutines=all", "cache", "sync.Pool", "time"},
		{"one allocates, another frees", "transfer", "cache", "sync.Pool", "time"},
		{"100,000 alive, freed at random", "churn", "cache", "sync.Pool", "time"},
		{"a record with a 4 KiB buffer", "payment", "pool.Pool", "sync.Pool", "time"},
		{"a record with a 4 KiB buffer", "payment", "pool.Local", "sync.Pool", "time"},
		{"buffers of 1 KiB, cleared", "slabpair/buffer=1KiB", "pool.Bytes", "sync.Pool", "time"},
		{"buffers of 1 KiB, not cleared", "slabpair/buffer=1KiB", "pool.Bytes+dirty", "sync.Pool+dirty", "time"},
		{"buffers of 4 KiB, cleared", "slabpair/buffer=4KiB", "pool.Bytes", "sync.Pool", "time"},
		{"buffers of 64 KiB, cleared", "slabpair/buffer=64KiB", "pool.Bytes", "sync.Pool", "time"},
	}
	collector = []row{
		{"GC CPU of a collection, tree of 8 million nodes", "resident/nodes=8388607", "arena", "new", "GC CPU/cycle"},
		{"the same", "resident/nodes=8388607", "bump", "new", "GC CPU/cycle"},
		{"the same, linked by handles", "handles/nodes=8388607", "table", "new", "GC CPU/cycle"},
		{"building that tree", "resident/nodes=8388607", "bump", "new", "build"},
		{"building it with handles", "handles/nodes=8388607", "table", "new", "build"},
		{"a step through it by handles", "handles/nodes=8388607", "table", "new", "walk/node"},
		{"p99.9 of a request beside 1 GB", "request/live=1GB", "arena+pool", "new", "p99.9"},
		{"the same with a fresh arena for each", "request/live=1GB", "arena+fresh", "new", "p99.9"},
		{"peak memory of 2,048 documents kept, MB", "kept", "arena+pool", "new", "peak MB"},
		{"peak memory of requests beside 1 GB, MB", "request/live=1GB", "arena+fresh", "new", "peak MB"},
	}
	together = []string{"sizes/type=int/gc=quiet", "sizes/type=[64]int/gc=quiet", "tree/nodes=131071",
		"tree/program=binary-trees/depth=15", "chain", "small", "request/live=0", "types/alive=1", "types/alive=5", "jsontree",
		"uneven/types=3", "uneven/types=40", "spike", "kept", "routes/types=8", "routes/types=32"}
	lifetimes = []string{"arena+fresh", "arena+reset", "arena+pool", "lane+reset", "bump+fresh", "bump+reset"}
)

// compare returns how much faster, or less, a row's variant is.
func (r *run) compare(x row) (ratio, bool) {
	if c := r.cases[x.work]; c != nil && c.baseline == x.against && x.title == "time" {
		return r.speedup(x.work, x.variant)
	}
	// A target of time is "faster than" or "not slower than", one of another column
	// begins with its title.
	text := "er than " + x.against
	if x.title != "time" {
		text = "less than " + x.against
	}
	for _, t := range r.targets {
		if t.work == x.work && t.variant == x.variant && strings.HasSuffix(t.text, text) &&
			(x.title == "time" || strings.HasPrefix(t.text, x.title+" ")) {
			return ratio{mid: number(strings.TrimSuffix(t.measured, "×"))}, true
		}
	}
	q, ok := r.quotient(x.work, x.variant, x.against, x.title)
	return ratio{mid: q}, ok
}

// words writes a ratio as a factor; one that loses stands out.
func (x ratio) words(better, worse string) string {
	factor := func(f float64) string {
		switch {
		case f >= 99.5:
			return fmt.Sprintf("%.0f×", f)
		case f >= 1.995:
			return fmt.Sprintf("%.1f×", f)
		}
		return fmt.Sprintf("%.2f×", f)
	}
	if x.lo > 0 && x.lo <= 1 && x.hi >= 1 || factor(x.mid) == "1.00×" {
		return "no difference"
	}
	if x.mid < 1 {
		return "**" + strings.TrimSpace(factor(1/x.mid)+" "+worse) + "**"
	}
	return strings.TrimSpace(factor(x.mid) + " " + better)
}

// verdict puts a comparison into words; "–" if it was not measured.
func (r *run) verdict(x row) string {
	q, ok := r.compare(x)
	switch {
	case !ok:
		return "–"
	case x.title == "time":
		return q.words("faster", "slower")
	}
	return q.words("less", "more")
}

// comparisons writes a table of rows: figures of the first run, ratios of all.
func comparisons(b *strings.Builder, runs []*run, list []row) {
	first := runs[0]
	b.WriteString("| work | it takes | with Haven |")
	for _, r := range runs {
		fmt.Fprintf(b, " %s |", r.version)
	}
	b.WriteString("\n|---|--:|--:|" + strings.Repeat("---|", len(runs)) + "\n")
	for _, x := range list {
		if _, ok := first.compare(x); !ok {
			continue
		}
		fmt.Fprintf(b, "| %s | `%s` %s | `%s` %s |", x.label, x.against, first.cell(x.work, x.against, x.title),
			x.variant, first.cell(x.work, x.variant, x.title))
		for _, r := range runs {
			fmt.Fprintf(b, " %s |", r.verdict(x))
		}
		b.WriteString("\n")
	}
}

// numbers is what README.md shows.
func numbers(runs []*run) string {
	var b strings.Builder
	comparisons(&b, runs, short)
	first := runs[0]
	fmt.Fprintf(&b, "\nTimes are those of %s (%s; %s).\n[BENCHMARKS.md](BENCHMARKS.md) has the intervals, "+
		"the targets, and more of the rows that lose.\n", first.version, first.facts["Machine"], first.facts["Haven"])
	return b.String()
}

// page writes BENCHMARKS.md. Its tables are of the first run, its targets of all.
func page(runs []*run, peers *run, gateway string) string {
	var b strings.Builder
	first := runs[0]
	b.WriteString(`# Benchmarks

How Haven compares with Go's heap and with ` + "`sync.Pool`" + `, the rows that lose in **bold**. The
machine is shared and noisy: look at ratios, which compare rounds that ran side by side, before
times. A run of your own says more than this page: ` + "`go run ./cmd/haven bench`" + `.

| | |
|---|---|
`)
	fmt.Fprintf(&b, "| machine | %s |\n", first.facts["Machine"])
	for _, r := range runs {
		fmt.Fprintf(&b, "| %s | %s, %s, all tables in [%s/%s.md](%s/%s.md) |\n", r.version, r.facts["Command"], r.facts["Haven"], folder, r.version, folder, r.version)
	}
	fmt.Fprintf(&b, "| a server | %s, all tables in [%s/gateway.md](%s/gateway.md) |\n", fact(gateway, "Haven"), folder, folder)
	b.WriteString("| measured anew by | `.ci/benchmarks`, which writes these files, this page and its picture |\n")

	fmt.Fprintf(&b, `
## All at a glance

![Time of each workload relative to Go's heap, on a logarithmic axis](%s)

%s. A bar to the right is faster, to the left slower; the thin line is the 95 %% interval.
`+"`new`"+` is Go's heap. `+"`fresh`"+` makes an arena for each unit of work and drops it, `+"`reset`"+` has one that
is reset, `+"`pool`"+` takes one from a Pool. `+"`lane`"+` allocates through handles from `+"`LaneOf`"+`. What the
workloads do is in their [sources](bench/workload), how they are measured in the
[harness](bench/doc.go).
`, picture, first.version)

	b.WriteString("\n## How fast is work that ends together?\n\nTimes as fast as `new`, with " + first.version + ".\n\n")
	b.WriteString("| work | `new` |")
	for _, v := range lifetimes {
		fmt.Fprintf(&b, " %s |", v)
	}
	b.WriteString("\n|---|--:|" + strings.Repeat("---|", len(lifetimes)) + "\n")
	for _, work := range together {
		if first.cases[work] == nil {
			continue
		}
		fmt.Fprintf(&b, "| %s | %s |", work, first.cell(work, "new", "time"))
		for _, v := range lifetimes {
			text := "–"
			if x, ok := first.speedup(work, v); ok {
				text = x.words("", "slower")
			}
			fmt.Fprintf(&b, " %s |", text)
		}
		b.WriteString("\n")
	}
	b.WriteString("\nWhere a fresh arena for each small piece of work loses, one from a Pool is the remedy.\n")

	b.WriteString("\n## And beside other libraries?\n\n" + beside(peers))

	b.WriteString("\n## What does the collector save?\n\n")
	comparisons(&b, runs, collector)

	b.WriteString("\n## Are slabs and pools faster than sync.Pool?\n\n")
	comparisons(&b, runs, pooled)
	b.WriteString("\nRatios are paired by rounds where there is a target, else of the medians.\n")

	if c := first.cases["burst"]; c != nil {
		b.WriteString("\n## What is kept after a burst?\n\n10,000 objects of 1 KiB at once, then none.\n\n" +
			"| variant | ns/object | after 1 s | after 5 s | after 30 s |\n|---|--:|--:|--:|--:|\n")
		for _, v := range c.variants {
			x := c.cells[v]
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", v, x["ns/object"], x["after 1s"], x["after 5s"], x["after 30s"])
		}
	}

	b.WriteString("\n## What does a whole server gain?\n\nAn order gateway, on Go's heap and on Haven, in turns:\n`go run ./examples/gateway load -compare`.\n\n")
	b.WriteString(serverTable(gateway))

	b.WriteString("\n## Targets\n\n✓ met, ≈ met by the interval (the median misses it, equality lies within the interval of 95 %), ✗ **missed**.\n\n")
	targets(&b, runs)
	return b.String()
}

// beside has the times of Haven and of its peers.
func beside(peers *run) string {
	var b strings.Builder
	names := slices.Sorted(maps.Keys(peers.cases))
	b.WriteString("Documents of three types with lists: ns for each object, and the peak memory of the process in MB.\n\n| |")
	for _, name := range names {
		_, short, _ := strings.Cut(name, "=")
		fmt.Fprintf(&b, " %s | MB |", short)
	}
	b.WriteString("\n|---|" + strings.Repeat("--:|--:|", len(names)) + "\n")
	for _, v := range peers.cases[names[0]].variants {
		fmt.Fprintf(&b, "| %s |", v)
		for _, name := range names {
			fmt.Fprintf(&b, " %s | %s |", peers.cell(name, v, "ns/object"), peers.cell(name, v, "peak MB"))
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "\n`chunks` are typed lists written by hand, which keep what they have for good; `nuke` is github.com/ortuman/nuke,\n"+
		"whose memory the collector does not scan, as that of `bump`; `std` is GOEXPERIMENT=arenas, an arena for each\n"+
		"document. %s, all in [%s/peers.md](%s/peers.md).\n", peers.facts["Haven"], folder, folder)
	return b.String()
}

// serverTable has the lines of the gateway's tables that answer the question: its targets,
// and of the others the rows of time and memory.
func serverTable(text string) string {
	var b strings.Builder
	b.WriteString("| | heap | haven | heap ÷ haven |\n|---|--:|--:|--:|\n")
	part := ""
	for _, cells := range rows(text) {
		if len(cells) != 4 {
			continue
		}
		switch name := cells[0]; {
		case cells[1] == "heap":
			part, _, _ = strings.Cut(name, ", ")
		case name == "CPU per request", name == "GC CPU per request", name == "latency p99", name == "latency p99.9",
			name == "peak RSS", name == "requests/s" && strings.HasPrefix(part, "as"):
			short := func(s string) string { s, _, _ = strings.Cut(s, " ["); return s }
			fmt.Fprintf(&b, "| %s, %s | %s | %s | %s |\n", name, part, short(cells[1]), short(cells[2]), short(cells[3]))
		}
	}
	b.WriteString("\n| target | measured | |\n|---|--:|---|\n")
	for _, cells := range rows(text) {
		if len(cells) == 3 && cells[1] != "measured" {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", cells[0], cells[1], marked(cells[2]))
		}
	}
	return b.String()
}

// fact returns a line of the table at a result's head.
func fact(text, name string) string {
	for _, cells := range rows(text) {
		if cells[0] == name {
			return cells[1]
		}
	}
	return "not measured"
}

func targets(b *strings.Builder, runs []*run) {
	b.WriteString("| work | variant | target |")
	rule := "|---|---|---|"
	for _, r := range runs {
		fmt.Fprintf(b, " %s | |", r.version)
		rule += "--:|---|"
	}
	b.WriteString("\n" + rule + "\n")
	for _, t := range runs[0].targets {
		fmt.Fprintf(b, "| %s | %s | %s |", t.work, t.variant, t.text)
		for _, r := range runs {
			cells := " – | |"
			for _, u := range r.targets {
				if u.work == t.work && u.variant == t.variant && u.text == t.text {
					cells = fmt.Sprintf(" %s | %s |", u.measured, marked(u.verdict))
				}
			}
			b.WriteString(cells)
		}
		b.WriteString("\n")
	}
}

// marked puts a sign that is seen from afar before a verdict.
func marked(verdict string) string {
	switch verdict {
	case "met":
		return "✓"
	case "met by the interval":
		return "≈"
	case "**missed**":
		return "✗ **missed**"
	}
	return verdict
}
