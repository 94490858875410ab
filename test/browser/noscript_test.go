package browser

import (
	"reflect"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// scripts sets whether pages may run scripts.
func (b *tab) scripts(on bool) {
	b.t.Helper()
	b.run(emulation.SetScriptExecutionDisabled(!on))
}

// load loads a page and waits for nothing else.
func (b *tab) load(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url))
}

// textOf is JavaScript that returns the texts of a table, without what only
// scripts can draw.
func textOf(table string) string {
	return `[...document.querySelectorAll("#` + table + ` tbody tr")].map((tr) =>
		[...tr.cells].map((c) => c.querySelector(".plot") ? "" : c.textContent))`
}

// TestWithoutScripts reads the page in a browser that runs no scripts.
func TestWithoutScripts(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.scripts(false)
	b.load(serve())
	for _, c := range contexts() {
		if !eval[bool](b, `[...document.querySelectorAll("#contexts tbody tr")].some((tr) => tr.cells[0].textContent.startsWith("`+c.Name+`"))`) {
			t.Errorf("no row has %s", c.Path)
		}
	}
	if n := eval[int](b, `document.querySelectorAll("#contexts tbody tr").length`); n != len(contexts())+1 { // the group of conn
		t.Errorf("%d rows, want %d", n, len(contexts())+1)
	}
	if n := eval[float64](b, `Number([...document.querySelectorAll("#contexts tbody tr")].find((tr) => tr.cells[0].textContent === "server").querySelector("data").value)`); n != float64(s.server.Stats().Total.Bytes) {
		t.Errorf("server has %v bytes, want %d", n, s.server.Stats().Total.Bytes)
	}
	for _, id := range []string{"pause", "copy", "icicle"} {
		if eval[bool](b, `document.getElementById("`+id+`").checkVisibility()`) {
			t.Errorf("#%s shows, and does nothing", id)
		}
	}
	for _, id := range []string{"limits", "names", "ranked", "caches", "pools"} {
		if !eval[bool](b, `document.querySelector("#`+id+` tbody tr").checkVisibility()`) {
			t.Errorf("#%s does not show", id)
		}
	}
}

// TestSameTables compares what the server writes with what the scripts write over
// it.
func TestSameTables(t *testing.T) {
	newScene(t)
	b := newTab(t)
	url := serve()
	for _, table := range []string{"limits", "names", "ranked", "caches", "pools"} {
		var plain, scripted [][]string
		var heads int
		// Between the two, a garbage collection may have caches and pools put things
		// elsewhere; then the next look is at both as they are from then on.
		for range 20 {
			b.scripts(false)
			b.load(url)
			plain = withoutAge(table, eval[[][]string](b, textOf(table)))
			heads = eval[int](b, `document.querySelectorAll("#`+table+` thead th").length / document.querySelectorAll("#`+table+` table").length`)
			b.scripts(true)
			b.open(url)
			scripted = withoutAge(table, eval[[][]string](b, textOf(table)))
			if reflect.DeepEqual(plain, scripted) {
				break
			}
		}
		if len(plain) == 0 || !reflect.DeepEqual(plain, scripted) {
			t.Errorf("%s without scripts:\n%q\nwith scripts:\n%q", table, plain, scripted)
		}
		for _, row := range scripted {
			if len(row) != heads {
				t.Errorf("%s has %d heads and a row of %d cells", table, heads, len(row))
			}
		}
	}
}

// withoutAge drops the text of the last column of the table that has the age.
func withoutAge(table string, rows [][]string) [][]string {
	if table == "ranked" {
		for _, row := range rows {
			row[len(row)-1] = ""
		}
	}
	return rows
}
