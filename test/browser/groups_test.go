package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/haven-mem/haven/memctx"
)

// TestGroups opens the page of a program that forgot a hundred roots of one name.
func TestGroups(t *testing.T) {
	newScene(t)
	for i := range 120 {
		c := memctx.New("forgotten", memctx.Config{Ident: fmt.Sprint(i), Limit: 1 << 20})
		defer c.Delete()
		use(c, (100+4*i)<<10)
	}
	small := memctx.New("beside them")
	defer small.Delete()
	use(small, 1<<10)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	url := serve()
	b.open(url)
	b.until("the page waits", `window.pending.size === 1`)
	box := func(label string) string {
		return fmt.Sprintf(`document.querySelector("#icicle-boxes .box[aria-label^='%s']")`, label)
	}
	if !eval[bool](b, `!!`+box("forgotten ×120, 39.6 MiB")) || eval[bool](b, `!!`+box("forgotten[")) {
		t.Error("the roots are not one block")
	}
	b.run(chromedp.Click("#icicle-boxes .box[aria-label^='forgotten ×120']", chromedp.ByQuery))
	more := memctx.New("forgotten", memctx.Config{Ident: "more"})
	b.tick() // it stays open
	if c := b.crumbs(); c != "all contexts > forgotten ×121" {
		t.Errorf("with one more the way is %s", c)
	}
	more.Delete()
	b.tick()
	if c := b.crumbs(); c != "all contexts > forgotten ×120" || !eval[bool](b, `!!`+box("forgotten[119],")) {
		t.Errorf("after a click the way is %s", c)
	}
	if n := eval[int](b, `document.querySelectorAll("#icicle-boxes .box").length`); n < 80 {
		t.Errorf("the open group has %d boxes", n)
	}
	eval[any](b, `void document.getElementById("icicle-boxes").dispatchEvent(new Event("pointerleave"))`)
	if said := eval[string](b, `document.getElementById("icicle-detail").textContent`); !strings.Contains(said, "largestforgotten[119] with 576 KiB") {
		t.Errorf("the details are %s", said)
	}
	const row = `[...document.querySelectorAll("#limits tbody tr")].find((tr) => tr.textContent.startsWith("forgotten ×120"))`
	look := func() {
		t.Helper()
		if n := eval[int](b, `[...document.querySelectorAll("#limits tbody tr")].filter((tr) => tr.textContent.includes("forgotten")).length`); n != 1 {
			t.Errorf("%d rows of limits", n)
		}
		if got := eval[string](b, row+`.querySelector("ol").firstElementChild.textContent`); got != "forgotten[119] 56.2 %" {
			t.Errorf("the fullest is %s", got)
		}
		if eval[bool](b, row+`.querySelector("ol").checkVisibility()`) {
			t.Error("it is open")
		}
		eval[any](b, `void `+row+`.querySelector("summary").click()`)
		if !eval[bool](b, row+`.querySelector("ol").checkVisibility()`) {
			t.Error("a click does not open it")
		}
	}
	look()
	use(memctxOf("forgotten", "119"), 100<<10) // so that the row is another
	b.tick()
	b.until("the row changes and stays open", row+`.querySelector("details").open && `+row+`.querySelector("li").textContent !== "forgotten[119] 56.2 %"`)

	// A limit that is far away is folded away.
	const far = `[...document.querySelectorAll("#limits-folded tbody tr")].find((tr) => tr.textContent.startsWith("index"))`
	if eval[bool](b, far+`.checkVisibility()`) {
		t.Error("a limit that is far away shows")
	}
	if s := eval[string](b, `document.querySelector("#limits-folded summary").textContent`); s != fmt.Sprintf("%d more, all below 50 %%", eval[int](b, `document.querySelectorAll("#limits-folded tbody tr").length`)) {
		t.Errorf("the line says %q", s)
	}
	b.run(chromedp.Click("#limits-folded summary", chromedp.ByQuery))
	b.tick()
	if !eval[bool](b, far+`.checkVisibility()`) {
		t.Error("a click does not show it, or it does not stay")
	}

	b.scripts(false)
	b.load(url)
	for _, name := range []string{"forgotten ×120", "beside them"} {
		if !eval[bool](b, fmt.Sprintf(`[...document.querySelectorAll("#contexts tbody th")].some((th) => th.textContent.startsWith(%q))`, name)) {
			t.Errorf("without scripts there is no %s", name)
		}
	}
}

// memctxOf returns a root.
func memctxOf(name, ident string) *memctx.Context {
	for r := range memctx.Roots() {
		if r.Name() == name && r.Ident() == ident {
			return r
		}
	}
	return nil
}

// TestLeaksFirst finds the leaks at the top of the page, and their number.
func TestLeaksFirst(t *testing.T) {
	newScene(t)
	for _, width := range []int64{390, 1280} {
		b := newTab(t)
		b.screen(width, "light")
		b.open(serve())
		if id := eval[string](b, `document.querySelector("main section").id`); id != "leaks" {
			t.Errorf("the first section is %s", id)
		}
		box := eval[[]float64](b, `(({ top, right, width }) => [top, right, width])(document.getElementById("leak-count").getBoundingClientRect())`)
		if box[0] > 300 || box[1] > float64(width) || box[2] == 0 {
			t.Errorf("at %d the badge is at %v", width, box)
		}
		all := eval[int](b, `[...document.querySelectorAll("#leaks p data:first-child")].reduce((sum, d) => sum + Number(d.value), 0)`)
		if n := eval[string](b, `document.getElementById("leak-count").textContent`); n != commas(all) || all < 3 {
			t.Errorf("the badge says %s, of %d", n, all)
		}
	}
}

// TestPhone reads the tree on a phone, as a list that a touch goes down.
func TestPhone(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.screen(390, "light")
	b.open(serve())
	captions := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll("#icicle-boxes .box")]
			.sort((a, b) => Number(a.getAttribute("y")) - Number(b.getAttribute("y"))).map((e) => e.querySelector("text").textContent)`)
	}
	if c := captions(); len(c) < 4 || !strings.HasPrefix(c[0], "all contexts  ") || !strings.HasPrefix(c[1], "server  ") || !strings.HasPrefix(c[2], "index  ") {
		t.Errorf("the list is %q", c)
	}
	for _, label := range []string{"server", "conn ×40"} {
		b.run(chromedp.Click(fmt.Sprintf(`#icicle-boxes .box[aria-label^=%q]`, label+","), chromedp.ByQuery))
	}
	c := captions()
	if len(c) != 26 || c[0] != "conn ×40  19.2 MiB" || c[1] != "conn[18]  1.7 MiB" || !strings.HasPrefix(c[25], "16 more  ") {
		t.Errorf("%d rows: %q", len(c), c)
	}
	if wide := eval[[]float64](b, `[...document.querySelectorAll("#icicle-boxes .box")].map((e) => e.getBoundingClientRect().width)`); len(wide) == 0 || wide[1] < 300 {
		t.Errorf("the rows are %v wide", wide)
	}
	part := eval[[]float64](b, `["conn[18],", "conn[5],"].map((x) => document.querySelector("#icicle-boxes .box[aria-label^='" + x + "'] .fill").getBoundingClientRect().width)`)
	if part[1] >= part[0] || part[1] < part[0]/2 {
		t.Errorf("of two rows %v are filled", part)
	}
}
