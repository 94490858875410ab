package debugpage_test

import (
	"fmt"
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

// TestPageLimits folds away what is not half used, and what is too much.
func TestPageLimits(t *testing.T) {
	fold := regexp.MustCompile(`<details id="limits-folded"( hidden)?>\s*<summary>(.*?)</summary>`)
	for _, c := range []struct {
		half, below int
		shown       int
		says        string
	}{
		{3, 0, 3, ""},
		{0, 2, 0, "2 more, all below 50 %"},
		{3, 130, 3, "130 more, all below 50 %"},
		{debugpage.LimitRows + 5, 0, debugpage.LimitRows, "5 more"},
		{debugpage.LimitRows + 5, 3, debugpage.LimitRows, "8 more"},
	} {
		s := &debugpage.Stats{}
		for i := range c.half + c.below {
			r := row(0, fmt.Sprint("r", i), "", 0, 499+i)
			if r.Limit = 1000; i >= c.below {
				r.Total.Bytes = 500 + i
			} else {
				r.Total.Bytes = i
			}
			s.Contexts = append(s.Contexts, r)
		}
		debugpage.AddLimits(s)
		page := debugpage.PageOf(s)
		got := fold.FindStringSubmatch(page)
		if got == nil || (got[1] != "") != (c.says == "") || c.says != "" && got[2] != c.says {
			t.Errorf("%d and %d below: %q, want %q", c.half, c.below, got, c.says)
		}
		before, _, _ := strings.Cut(page[strings.Index(page, `id="limits"`):], `<details id="limits-folded"`)
		if n := len(rows.FindAllString(before, -1)); n != c.shown {
			t.Errorf("%d and %d below: %d rows show, want %d", c.half, c.below, n, c.shown)
		}
		if len(s.Limits)+s.MoreLimits != c.half+c.below || len(s.Limits) > 100 {
			t.Errorf("%d limits and %d more", len(s.Limits), s.MoreLimits)
		}
	}
}

// TestPageGroups is a program with many contexts of a name.
func TestPageGroups(t *testing.T) {
	s := fake()
	group := row(0, "request", "", 0, 40<<20)
	group.Siblings, group.Children, group.Contexts, group.More, group.MoreBytes = 1500, 1500, 1500, 1497, 34<<20
	s.Contexts = append(s.Contexts, group)
	for i, used := range []int{3 << 20, 2 << 20, 1 << 20} {
		r := row(1, "request", fmt.Sprint(i), used, used)
		if r.Limit = 4 << 20; i == 2 {
			r.Limit = 0
		}
		s.Contexts = append(s.Contexts, r)
	}
	page := pageOf(t, s)
	tables := tablesOf(t, page)
	got := ""
	for _, row := range append(tables["contexts"][3:5], tables["limits"]...) {
		got += strings.Join(row, "|") + "\n"
	}
	if want := `request ×1,500 1,497 more below with 34.0 MiB|40.0 MiB||40.0 MiB|–|1,500|||1 min 30 s
request[0]|3.0 MiB|3.0 MiB|3.0 MiB|4.0 MiB|1|0|4|1 min 30 s
sessions|cache|90.1 %|901 objects|1,000 objects|–
server/conn[17]|context|80.0 %|4.0 MiB|5.0 MiB|–
request ×1,500request[0] 75.0 %request[1] 50.0 %|fullest context|75.0 %|3.0 MiB|4.0 MiB|–
frames, idle|pool|11.7 %|121 KiB|1.0 MiB|–
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// One that has a limit is no group of limits.
	s.Contexts[len(s.Contexts)-2].Limit = 0
	if l := debugpage.Collect(s).Limits[2]; l.Name != "request[0]" || l.Siblings != 0 || l.Members != nil {
		t.Errorf("%+v", l)
	}
}

// TestPageLeaks has the leaks in front, and their number above all.
func TestPageLeaks(t *testing.T) {
	for n, want := range map[int]string{2: `class="badge tag">5</span>`, 1: `class="badge tag">3</span>`, 0: `class="badge">none</span>`} {
		s := fake()
		s.Leaks = s.Leaks[:n]
		page := pageOf(t, s)
		head, _, _ := strings.Cut(page, "<main>")
		if !strings.Contains(head, want) {
			t.Errorf("of %d findings the head has no %s", n, want)
		}
		if m := section.FindStringSubmatch(page); m == nil || m[1] != "leaks" {
			t.Errorf("the first section is %q", m)
		}
	}
}
