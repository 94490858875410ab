package browser

import (
	"fmt"
	"testing"

	"github.com/haven-mem/haven/memctx"
)

// TestManyContexts opens the page of a program with a hundred thousand contexts.
func TestManyContexts(t *testing.T) {
	newScene(t)
	root := memctx.New("crowd")
	defer root.Delete()
	for i := range 100 {
		c := root.Child("group", memctx.Config{Ident: fmt.Sprint(i)})
		use(c, 512<<10)
		for range 1000 {
			c.Child("member")
		}
	}
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	b.open(serve())
	if n := eval[int](b, liveOf); n < 100_000 {
		t.Errorf("%d contexts are counted", n)
	}
	if n := eval[int](b, `document.querySelectorAll("#icicle-boxes .box").length`); n > 2000 {
		t.Errorf("the icicle has %d boxes", n)
	}
	if n := eval[int](b, `document.getElementsByTagName("*").length`); n > 20_000 {
		t.Errorf("the page has %d elements", n)
	}
	b.toIcicle()
	b.press(keyDown, keyDown)
	if f := b.focused(); f != "group ×100" {
		t.Errorf("the focus is on %s", f)
	}
	b.press(keyEnter, keyDown)
	if f := b.focused(); f != "group[0]" {
		t.Errorf("in the group the focus is on %s", f)
	}
	b.press(keyEnter, keyDown)
	if f := eval[string](b, `document.activeElement.getAttribute("aria-label")`); f != "member ×1,000, 0 B, 0.0 % of all, 1,000 contexts, the largest member with 0 B" {
		t.Errorf("below is %s", f)
	}
	b.until("the page waits", `window.pending.size === 1`)
	b.tick()
	b.press(keyUp)
	if f := b.focused(); f != "group[0]" {
		t.Errorf("after an update the focus is on %s", f)
	}
}

// TestDeepContexts opens the page of a program that nests contexts very deep.
func TestDeepContexts(t *testing.T) {
	newScene(t)
	root := memctx.New("deep")
	defer root.Delete()
	c := root
	for range 300 {
		c = c.Child("level")
	}
	use(c, 40<<20)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	b.open(serve())
	b.toIcicle()
	for range 40 { // further than is shown at once
		b.press(keyDown)
	}
	b.press(keyEnter, keyDown)
	if n := eval[int](b, `document.querySelectorAll("#crumbs li").length`); n != 24 {
		t.Errorf("the way has %d steps", n)
	}
	if f := b.focused(); f != "level" {
		t.Errorf("the focus is on %s", f)
	}
}
