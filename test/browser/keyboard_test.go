package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// focused returns the first word of what a screen reader says of the box that has
// the focus.
func (b *tab) focused() string {
	b.t.Helper()
	label := eval[string](b, `document.activeElement?.getAttribute("role") === "treeitem" ? document.activeElement.getAttribute("aria-label") : "nothing"`)
	name, _, _ := strings.Cut(label, ",")
	return name
}

// crumbs returns the way to the box that is zoomed to.
func (b *tab) crumbs() string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll("#crumbs button")].map((x) => x.textContent).join(" > ")`)
}

// toIcicle presses Tab until a box has the focus.
func (b *tab) toIcicle() {
	b.t.Helper()
	for range 30 {
		b.press(keyTab)
		if b.focused() != "nothing" {
			return
		}
	}
	b.t.Fatal("Tab does not reach the icicle")
}

func TestKeyboard(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	b.open(serve())
	b.toIcicle()
	step := func(key, focused, crumbs string) {
		t.Helper()
		b.press(key)
		if f, c := b.focused(), b.crumbs(); f != focused || c != crumbs {
			t.Fatalf("after %q the focus is on %s, want %s; the way is %s, want %s", key, f, focused, c, crumbs)
		}
		if n := eval[int](b, `document.querySelectorAll("#icicle-boxes [tabindex='0']").length`); n != 1 {
			t.Fatalf("after %q, %d boxes are in the tab order", key, n)
		}
		if said := eval[string](b, `document.querySelector("#icicle-detail code").textContent`); said != "server/conn" && !strings.HasSuffix(said, focused) {
			t.Fatalf("after %q the details are of %s", key, said)
		}
	}
	const top = "all contexts"
	if b.focused() != top {
		t.Fatalf("the first box is %s", b.focused())
	}
	step(keyDown, "server", top)
	step(keyRight, "index", top)
	step(keyRight, "jobs", top)
	step(keyRight, "jobs", top) // the last
	step(keyHome, "server", top)
	step(keyEnd, "jobs", top)
	step(keyLeft, "index", top)
	step(keyLeft, "server", top)
	step(keyDown, "conn ×40", top)
	if ring := eval[string](b, `getComputedStyle(document.activeElement.querySelector(".ring")).stroke`); ring == "none" {
		t.Error("the focus does not show")
	}
	step(keyDown, "conn ×40", top) // what is in a group shows when it is opened
	step(keyEnter, "conn ×40", "all contexts > server > conn ×40")
	step(keyDown, "conn[18]", "all contexts > server > conn ×40")
	step(keyEnter, "conn[18]", "all contexts > server > conn ×40 > conn[18]")
	if w := eval[float64](b, `document.activeElement.getBoundingClientRect().width / document.getElementById("icicle-boxes").getBoundingClientRect().width`); w < 0.99 {
		t.Errorf("the box that is zoomed to has %.2f of the width", w)
	}
	b.tick()
	step(keyDown, "request[POST /import]", "all contexts > server > conn ×40 > conn[18]")
	step(keyUp, "conn[18]", "all contexts > server > conn ×40 > conn[18]")
	step(keyUp, "conn[18]", "all contexts > server > conn ×40 > conn[18]") // nothing above is shown
	step(keyEscape, "conn[18]", "all contexts > server > conn ×40")
	step(keyEscape, "conn ×40", "all contexts > server")
	step(keyUp, "server", "all contexts > server")
	step(" ", "server", top) // the first row leads out
	step(keyEscape, "server", top)
	step(keyUp, top, top)
	step(keyEnter, top, top)

	// Tab goes on behind the icicle, and back into it where it was.
	b.press(keyDown, keyTab)
	if f := b.focused(); f != "nothing" {
		t.Errorf("after Tab the focus is on %s", f)
	}
	eval[any](b, `document.getElementById("pause").focus()`)
	b.toIcicle()
	if f := b.focused(); f != "server" {
		t.Errorf("back in the icicle the focus is on %s, want server", f)
	}
}

// TestFocusStays follows a context that has the focus until it is gone.
func TestFocusStays(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	b.open(serve())
	parent := s.index.Child("parent of the moment")
	defer parent.Delete()
	child := parent.Child("moment")
	use(child, 3<<20)
	b.until("the page waits", `window.pending.size === 1`)
	b.tick()
	b.toIcicle()
	b.press(keyDown, keyRight, keyDown, keyDown)
	if f := b.focused(); f != "moment" {
		t.Fatalf("the focus is on %s", f)
	}
	eval[any](b, `void (window.had = document.activeElement)`)
	use(parent, 1<<20) // others are at other places now
	b.tick()
	if !eval[bool](b, `window.had === document.activeElement`) {
		t.Error("the focus moved while the context is there")
	}
	// Where there is no room for it the one above has the focus for the time being.
	b.screen(24, "light")
	b.until("there is less room", `document.getElementById("icicle-boxes").getBoundingClientRect().width < 24`)
	if f := b.focused(); f == "moment" {
		t.Fatal("the focus is where there is no room")
	}
	b.screen(1280, "light")
	b.until("there is room", `document.getElementById("icicle-boxes").getBoundingClientRect().width > 1000`)
	if f := b.focused(); f != "moment" {
		t.Errorf("when there is room again the focus is on %s", f)
	}
	b.press(keyEnter)
	if c := b.crumbs(); c != "all contexts > index > parent of the moment > moment" {
		t.Fatalf("the way is %s", c)
	}
	child.Delete()
	b.tick()
	if f, c := b.focused(), b.crumbs(); f != "parent of the moment" || c != "all contexts > index > parent of the moment" {
		t.Errorf("when the context is gone the focus is on %s, and the way is %s", f, c)
	}
	use(parent.Child("moment"), 3<<20) // another one of the same name
	b.tick()
	if f := b.focused(); f != "parent of the moment" {
		t.Errorf("when there is another context of the name the focus goes to %s by itself", f)
	}
}

// TestPointer zooms with clicks.
func TestPointer(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	b.open(serve())
	click := func(label, crumbs string) {
		t.Helper()
		b.run(chromedp.Click(fmt.Sprintf(`#icicle-boxes .box[aria-label^=%q]`, label+","), chromedp.ByQuery))
		if c := b.crumbs(); c != crumbs {
			t.Errorf("after a click on %s the way is %s, want %s", label, c, crumbs)
		}
	}
	click("index", "all contexts > index")
	click("shard[7]", "all contexts > index > shard[7]")
	click("shard[7]", "all contexts > index")
	click("shard[6]", "all contexts > index > shard[6]")
	b.run(chromedp.Click(`#crumbs li:nth-child(2) button`, chromedp.ByQuery))
	if c := b.crumbs(); c != "all contexts > index" {
		t.Errorf("after a click on the way it is %s", c)
	}
	b.run(chromedp.Focus(`#pause`, chromedp.ByQuery))
	b.press(keyEscape) // wherever the focus is
	if c := b.crumbs(); c != "all contexts" {
		t.Errorf("after Escape the way is %s", c)
	}
}

// TestSameLabels zooms to one of several contexts that nothing tells apart but
// their place.
func TestSameLabels(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.before(clock)
	twins := s.index.Child("twins")
	defer twins.Delete()
	for i := range 3 {
		use(twins.Child("twin").Child(fmt.Sprint("below ", i)), (5-i)*300<<10)
	}
	b.open(serve())
	b.toIcicle()
	b.press(keyDown, keyRight, keyDown) // the largest of index
	if f := b.focused(); f != "twins" {
		t.Fatalf("the focus is on %s", f)
	}
	b.press(keyEnter, keyDown, keyRight, keyEnter, keyDown)
	if f := b.focused(); f != "below 1" {
		t.Errorf("below the second twin is %s", f)
	}
}
