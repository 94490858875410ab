package bench

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/perf/benchfmt"
)

func nanos(n int64) time.Duration { return time.Duration(n) }

func textOf(r *Report, width int) []byte {
	var buf bytes.Buffer
	tw := &tableWriter{w: &buf, width: width}
	tw.head(r)
	for _, c := range r.Cases {
		tw.block(c)
	}
	tw.foot(r)
	return buf.Bytes()
}

func TestTableGolden(t *testing.T)     { golden(t, "table.golden", textOf(fixedReport(), 120)) }
func TestTableWideGolden(t *testing.T) { golden(t, "wide.golden", textOf(fixedReport(), 200)) }

func TestTableFitsTheTerminal(t *testing.T) {
	for line := range bytes.Lines(textOf(fixedReport(), 120)) {
		if n := utf8.RuneCount(bytes.TrimSuffix(line, []byte("\n"))); n > 120 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestMarkdownGolden(t *testing.T) {
	var buf bytes.Buffer
	if err := writeMarkdown(&buf, fixedReport()); err != nil {
		t.Fatal(err)
	}
	golden(t, "report.md.golden", buf.Bytes())
}

func TestJSONRoundTrip(t *testing.T) {
	want := fixedReport()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Report
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&got); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(&got)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, again) {
		t.Errorf("got  %s\nwant %s", again, data)
	}
}

// Every round must come back from the reader that benchstat uses, with its
// name in parts and its time to the last digit.
func TestBenchfmtIsReadBack(t *testing.T) {
	report := fixedReport()
	var buf bytes.Buffer
	if err := writeBenchfmt(&buf, report); err != nil {
		t.Fatal(err)
	}
	type key struct{ base, parts string }
	got := map[key][]float64{}
	reader := benchfmt.NewReader(&buf, "report")
	for reader.Scan() {
		switch rec := reader.Result().(type) {
		case *benchfmt.SyntaxError:
			t.Error(rec)
		case *benchfmt.Result:
			base, parts := rec.Name.Parts()
			k := key{string(base), string(bytes.Join(parts, nil))}
			sec, ok := rec.Value("sec/op")
			if !ok {
				t.Errorf("%s has no time: %v", rec.Name, rec.Values)
			}
			got[k] = append(got[k], sec)
			if cpu := rec.GetConfig("cpu"); cpu != report.Machine.CPU {
				t.Errorf("cpu %q", cpu)
			}
		}
	}
	if err := reader.Err(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		k      key
		rounds int
		first  float64
	}{
		{key{"Tree", "/impl=new"}, 6, 23e-9},
		{key{"Tree", "/impl=arena+reset"}, 6, 3.3e-9},
		{key{"Request", "/impl=arena+pool/live=1GB"}, 3, 1200e-9},
		{key{"Jsontree", "/impl=heap"}, 6, 12e-3}, // 1 MB a pass
	} {
		secs := got[want.k]
		if len(secs) != want.rounds {
			t.Errorf("%v: %d rounds, want %d", want.k, len(secs), want.rounds)
		} else if math.Abs(secs[0]/want.first-1) > 1e-6 {
			t.Errorf("%v: first round %v s, want %v", want.k, secs[0], want.first)
		}
	}
}

func TestHTMLIsOneWellFormedPage(t *testing.T) {
	var buf bytes.Buffer
	if err := writeHTML(&buf, fixedReport()); err != nil {
		t.Fatal(err)
	}
	text := buf.String()

	// The page is written so that it is XML, too, but for the doctype.
	dec := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>")))
	seen := map[string]int{}
	ids := map[string]bool{}
	var links []string
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line, _ := dec.InputPos()
			t.Fatalf("line %d: %v", line, err)
		}
		start, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		seen[start.Name.Local]++
		switch start.Name.Local {
		case "script", "link", "img", "iframe", "object", "embed", "use", "image":
			t.Errorf("the page has a <%s>", start.Name.Local)
		}
		for _, a := range start.Attr {
			switch a.Name.Local {
			case "id":
				ids["#"+a.Value] = true
			case "href":
				links = append(links, a.Value)
			case "src", "srcset", "data", "action":
				t.Errorf("<%s %s=%q> loads something", start.Name.Local, a.Name.Local, a.Value)
			}
			if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") {
				t.Errorf("<%s %s=%q>", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, link := range links {
		if !ids[link] {
			t.Errorf("the link to %q leaves the page", link)
		}
	}
	// A chart per case, one of latencies, the overview; and the legend's.
	if seen["table"] != 3 || seen["svg"] < 5 {
		t.Errorf("%d tables, %d charts", seen["table"], seen["svg"])
	}
	if m := regexp.MustCompile(`(?i)https?:|url\(|@import|ZgotmplZ`).FindString(text); m != "" {
		t.Errorf("the page contains %q", m)
	}
	for _, want := range []string{"Example &lt;CPU&gt; &amp; Sons", "go1.26.8", "0123456789ab", "prefers-color-scheme: dark", "7.0× faster", "Content-Security-Policy"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestHTMLOfOddReports(t *testing.T) {
	lone := &CaseResult{Workload: "lone", Unit: "cycle", Baseline: "new", Passes: 1,
		Variants: []*VariantResult{{Name: "other", Rounds: fixedRounds(1, 5)}}}
	summarize(lone)
	for _, r := range []*Report{{}, {Interrupted: true, Cases: []*CaseResult{lone}}} {
		var buf bytes.Buffer
		if err := writeHTML(&buf, r); err != nil {
			t.Error(err)
		}
		if strings.Contains(buf.String(), "NaN") {
			t.Errorf("a place that is no number in\n%s", buf.String())
		}
	}
}

// One round shows no difference.
func TestVerdict(t *testing.T) {
	r := fixedReport()
	want := "6 comparisons with the baseline: 3 faster, 1 slower, 2 with no difference that the rounds could tell."
	r.Cases = append(r.Cases, &CaseResult{Workload: "once", Unit: "object", Baseline: "new", Variants: []*VariantResult{
		{Name: "new", Rounds: fixedRounds(1, 5)}, {Name: "deque", Rounds: fixedRounds(1, 9)},
	}})
	summarize(r.Cases[len(r.Cases)-1])
	if got := verdictLine(r); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestDotsOfVariants(t *testing.T) {
	for name, want := range map[string]string{
		"new": "base fresh", "fresh": "base fresh", "heap": "base fresh",
		"arena+fresh": "arena fresh", "lane+reset": "lane reset", "bump+reset": "bump reset", "arena+pool": "arena pool",
		"cache": "slab pool", "local": "slab pool", "table": "slab fresh",
		"pool.Pool": "pools pool", "pool.Bytes": "pools pool",
		"sync.Pool+dirty": "other pool", "mutex": "other pool", "channel": "other pool", "deque": "other pool",
		"reserved=64KB": "other fresh",
	} {
		if got := family(name) + " " + shape(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{formatNumber(0), "0"}, {formatNumber(0.01234), "0.012"}, {formatNumber(0.82), "0.82"},
		{formatNumber(9.994), "9.99"}, {formatNumber(9.996), "10.0"}, {formatNumber(99.96), "100"},
		{formatNumber(12345.6), "12346"}, {formatNumber(0.00002), "2.0e-05"},
		{formatCount(0.0003), "0"}, {formatCount(1), "1.00"},
		{formatNS(850), "850 ns"}, {formatNS(999.7), "1.00 µs"}, {formatNS(2e9), "2.00 s"},
		{formatExtra("release-ns", 1500), "1.50 µs"}, {formatExtra("metadata-bytes", 2e6), "2.00 MB"}, {formatExtra("gc-cpu-ns/cycle", 2e6), "2.00 ms"},
		{extraTitle("gc-cpu-ns/cycle"), "GC CPU/cycle"}, {extraTitle("release-ns"), "release"},
		{formatSpeedup(&Interval{Median: 7.26, Lo: 7, Hi: 7.5, Confidence: 0.95}), "7.3× faster [7.0–7.5]"},
		{formatSpeedup(&Interval{Median: 0.8, Lo: 0.78, Hi: 0.9, Confidence: 0.95}), "1.25× slower [1.11–1.28]"},
		{formatSpeedup(&Interval{Median: 0.99, Lo: 0.97, Hi: 1.02, Confidence: 0.95}), "no clear difference [0.97–1.02]"},
		{formatSpeedup(&Interval{Median: 352.4, Lo: 340, Hi: 360, Confidence: 0.95}), "352× faster [340–360]"},
		{formatSpeedup(&Interval{Median: 0.5, Lo: 0.5, Hi: 0.5}), "2.0× slower [?]"},
		{formatSpread(Interval{Median: 10, Lo: 9.9, Hi: 10.3, Confidence: 0.95}), "±3.0%"},
		{grouped(131071), "131,071"}, {grouped(12), "12"}, {grouped(1000000), "1,000,000"},
	} {
		if tc.got != tc.want {
			t.Errorf("got %q, want %q", tc.got, tc.want)
		}
	}
}
