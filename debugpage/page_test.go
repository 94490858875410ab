package debugpage_test

import (
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/memctx"
)

var (
	section  = regexp.MustCompile(`(?s)<section [^>]*id="([a-z]+)".*?</section>`)
	rows     = regexp.MustCompile(`(?s)<tr[^>]*><th scope="row".*?</tr>`)
	cells    = regexp.MustCompile(`(?s)<t[hd][^>]*>.*?</t[hd]>`)
	tags     = regexp.MustCompile(`<[^>]*>`)
	noscript = regexp.MustCompile(`(?s)<noscript>.*</noscript>`)
)

// tablesOf returns the texts of the cells in each section of a page, as who has no
// scripts sees them.
func tablesOf(t *testing.T, page string) map[string][][]string {
	t.Helper()
	tables := map[string][][]string{}
	for _, m := range section.FindAllStringSubmatch(page, -1) {
		tables[m[1]] = nil
		for _, tr := range rows.FindAllString(m[0], -1) {
			var row []string
			for _, td := range cells.FindAllString(tr, -1) {
				row = append(row, html.UnescapeString(tags.ReplaceAllString(td, "")))
			}
			tables[m[1]] = append(tables[m[1]], row)
		}
	}
	return tables
}

func TestPage(t *testing.T) {
	page := pageOf(t, fake())
	tables := tablesOf(t, page)
	for name, want := range map[string]string{
		"contexts": `
			server 2 more below with 0 B|6.0 MiB|2.0 MiB|6.0 MiB|–|5|0|4|1 min 30 s
			conn[17]|4.0 MiB|1.0 MiB|4.0 MiB|5.0 MiB|2|0|4|1 min 30 s
			request[GET /] deleted|3.0 MiB|3.0 MiB|3.0 MiB|–|1|1|4|1 min 30 s`,
		"limits": `
			sessions|cache|90.1 %|901 objects|1,000 objects|–
			server/conn[17]|context|80.0 %|4.0 MiB|5.0 MiB|–
			frames, idle|pool|11.7 %|121 KiB|1.0 MiB|–`,
		"names": `
			request|50.0 %|3.0 MiB||1|1|3.0 MiB|5,001|5,000|0|0|13|2|77.0 KiB|75.0 %
			server|33.3 %|2.0 MiB||1|0|2.0 MiB|1|0|0|0|0|0|0 B|–
			conn|16.6 %|1.0 MiB||3|0|1.0 MiB|11|8|0|0|0|0|0 B|–`,
		"ranked": `
			server/conn[17]/request[GET /] deleted|50.0 %|3.0 MiB|1|3.0 MiB|3.0 MiB|1|4|1 min 30 s
			server|33.3 %|2.0 MiB|1|2.0 MiB|6.0 MiB|0|4|1 min 30 s
			server/conn[17]|16.6 %|1.0 MiB|1|1.0 MiB|4.0 MiB|0|4|1 min 30 s`,
		"caches": `
			sessions|901|1,024|64|512|2|2|64.0 KiB|90.0 %|9,000|1,000|9,099|4|23|31|1,000`,
		"pools": `
			frames|*[]uint8|75.0 %|750|250|997|3|41|12|121 KiB|0|–|1.0 MiB|17|6
			4.0 KiB|size class|75.0 %|750|250|997|0||12|||||0|0`,
		"leaks": ``,
	} {
		var got strings.Builder
		for _, row := range tables[name] {
			got.WriteString("\n\t\t\t" + strings.Join(row, "|"))
		}
		if got.String() != want {
			t.Errorf("%s:%s\nwant%s", name, got.String(), want)
		}
	}
	for _, want := range []string{
		`<span class="tag">dropped</span> context batch`, `<pre tabindex="0">main.work()`, `<data value="3">3</data> times, the latest 5 min 0 s old, with <data value="122880"`,
		`<span class="tag">stale</span> arena request`, ` of main.node</p><details><summary>where it was released</summary><pre tabindex="0">main.serve()`,
		`<data value="6291456" title="6,291,456 bytes">6.0 MiB</data>`, // exact figures beside the round ones
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if !noscript.MatchString(page) || strings.Contains(noscript.ReplaceAllString(page, ""), "more below with") {
		t.Error("the tree is not in a noscript element")
	}
}

// TestPageEmpty is a program that uses nothing of Haven.
func TestPageEmpty(t *testing.T) {
	page := pageOf(t, &memctx.Snapshot{})
	for name, rows := range tablesOf(t, page) {
		if name != "limits" && len(rows) > 0 { // which may have GOMEMLIMIT
			t.Errorf("%s has %q", name, rows)
		}
	}
	for _, want := range []string{"There are no memory contexts", "No slab cache has a name", "No pool has a name", "has found nothing"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(page, `<p class="empty" hidden>`); n > 1 {
		t.Errorf("%d notes are hidden", n)
	}
}

// TestPageEscapes is about names that are markup.
func TestPageEscapes(t *testing.T) {
	const hostile = `<script>alert(1)</script><img src=x onerror="alert('2')">`
	s := fake()
	for i := range s.Contexts {
		s.Contexts[i].Name, s.Contexts[i].Ident, s.Contexts[i].Path = hostile, hostile, hostile
	}
	for i := range s.Names {
		s.Names[i].Name = hostile
	}
	s.Caches[0].Name, s.Pools[0].Name, s.Pools[0].Type = hostile, hostile, hostile
	l := &s.Leaks[0]
	l.Kind, l.What, l.Name, l.Path, l.Stack = hostile, hostile, hostile, hostile, hostile
	l.Type, l.Released = hostile, hostile
	page := pageOf(t, s)
	if strings.Contains(page, "<script>") || strings.Contains(page, "<img") {
		t.Error("names are markup")
	}
	for name, rows := range tablesOf(t, page) {
		for _, row := range rows {
			if name != "leaks" && !strings.Contains(row[0], "alert") && row[0] != "4.0 KiB" && row[0] != "GOMEMLIMIT" {
				t.Errorf("%s: %q", name, row[0])
			}
		}
	}
	if n := strings.Count(page, html.EscapeString(hostile)); n == 0 {
		// html/template escapes more than package html does
		n = strings.Count(html.UnescapeString(page), hostile)
		if n < 12 {
			t.Errorf("names are shown %d times", n)
		}
	}
}

// TestPageInline checks that nothing in the page is what its policy forbids.
func TestPageInline(t *testing.T) {
	page := pageOf(t, fake())
	for _, tag := range regexp.MustCompile(`<[a-z][^>]*>`).FindAllString(page, -1) {
		if regexp.MustCompile(`\s(style|on[a-z]+)=`).MatchString(tag) {
			t.Errorf("%s has a style or a script", tag)
		}
		if strings.HasPrefix(tag, "<style") || strings.HasPrefix(tag, "<script") && !strings.Contains(tag, "src=") {
			t.Errorf("%s is in the page", tag)
		}
	}
}

// TestPageMany is a program with far more contexts than a page can show.
func TestPageMany(t *testing.T) {
	s := many(100, 1000)
	page := pageOf(t, s)
	if n := len(tablesOf(t, page)["contexts"]); n != debugpage.TreeRows {
		t.Errorf("%d contexts, want %d", n, debugpage.TreeRows)
	}
	if !strings.Contains(page, "99,600 contexts are not listed") {
		t.Error("the others are not counted")
	}
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// TestLimitsMore lists those that are nearest to their limit.
func TestLimitsMore(t *testing.T) {
	s := new(memctx.Snapshot)
	for i := range debugpage.LimitRows + 5 {
		r := row(0, "r", "", 0, i)
		r.Limit = 1000
		s.Contexts = append(s.Contexts, r)
	}
	page := pageOf(t, s)
	rows := tablesOf(t, page)["limits"]
	if len(rows) != debugpage.LimitRows {
		t.Fatalf("%d limits", len(rows))
	}
	if rows[len(rows)-1][3] == "0 B" || !regexp.MustCompile(`<p class="note more">[56] more`).MatchString(page) { // GOMEMLIMIT may be one
		t.Errorf("the last is %q", rows[len(rows)-1])
	}
}
