package browser

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"

	"github.com/haven-mem/haven/memctx"
)

const liveOf = `Number(document.querySelector("#tile-contexts data").value)`

// TestUpdates watches the page with its own clock.
func TestUpdates(t *testing.T) {
	b := newTab(t)
	b.open(serve())
	before := eval[int](b, liveOf)
	mc := memctx.New("late")
	defer mc.Delete()
	b.until("a new context is counted", fmt.Sprintf(`%s === %d`, liveOf, before+1))
}

// TestPause checks that a page that pauses asks nothing and changes nothing, also
// if the answer to what it asked before is under way.
func TestPause(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.before(clock)
	b.open(serve())
	b.until("the page waits", `window.pending.size === 1`)
	if asked := eval[int](b, `window.asked`); asked != 1 {
		t.Errorf("the page asked %d times", asked)
	}
	before := eval[int](b, liveOf)
	mc := memctx.New("paused")
	defer mc.Delete()
	b.tick()
	if n := eval[int](b, liveOf); n != before+1 {
		t.Errorf("%d contexts are shown, want %d", n, before+1)
	}

	eval[any](b, `void (window.gate = new Promise((open) => window.open_gate = open))`)
	mc.Child("while the answer is under way")
	eval[int](b, `window.tick()`)
	b.until("the page has asked", `window.asked === 3`)
	if pressed := eval[string](b, `document.getElementById("pause").getAttribute("aria-pressed")`); pressed != "false" {
		t.Errorf("before the pause, aria-pressed is %q", pressed)
	}
	b.run(chromedp.Click("#pause", chromedp.ByQuery))
	if pressed := eval[string](b, `document.getElementById("pause").getAttribute("aria-pressed")`); pressed != "true" {
		t.Errorf("in the pause, aria-pressed is %q", pressed)
	}
	// The answer comes now, and all that follows from it happens in the page
	// before the next evaluation is over.
	eval[any](b, `window.open_gate()`)
	eval[any](b, `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))`)
	if n := eval[int](b, `window.pending.size`); n != 0 {
		t.Errorf("in the pause %d things wait to happen", n)
	}
	eval[any](b, `void document.dispatchEvent(new Event("visibilitychange"))`) // as of a tab that comes back
	if n, asked := eval[int](b, liveOf), eval[int](b, `window.asked`); n != before+1 || asked != 3 {
		t.Errorf("in the pause %d contexts are shown, want %d; the page asked %d times, want 3", n, before+1, asked)
	}
	if s := eval[string](b, `document.getElementById("state").textContent`); s != "Paused at" {
		t.Errorf("in the pause it says %q", s)
	}

	b.run(chromedp.Click("#pause", chromedp.ByQuery))
	b.until("the page is up to date again", fmt.Sprintf(`%s === %d && document.getElementById("state").textContent === "Live"`, liveOf, before+2))
}

// TestLost is a server that goes away: the page says so and keeps what it has.
func TestLost(t *testing.T) {
	newScene(t)
	b := openTab(t) // the console has what failed
	b.before(clock)
	b.open(serve())
	b.until("the page waits", `window.pending.size === 1`)
	eval[any](b, `void (window.fetch = () => Promise.reject(new Error("gone")))`)
	eval[int](b, `window.tick()`)
	b.until("the page says so", `document.getElementById("state").textContent.startsWith("No answer (gone)")`)
	if n := eval[int](b, `document.querySelectorAll("#caches tbody tr").length`); n != 2 {
		t.Errorf("%d caches are shown", n)
	}
	if n := eval[int](b, `window.pending.size`); n != 1 {
		t.Errorf("the page waits for %d things to happen, want the next question", n)
	}
}

// TestCopy copies what is shown, through the clipboard of the browser.
func TestCopy(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	url := serve()
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		whole := cdp.WithExecutor(ctx, chromedp.FromContext(ctx).Browser)
		return browser.GrantPermissions([]browser.PermissionType{browser.PermissionTypeClipboardReadWrite, browser.PermissionTypeClipboardSanitizedWrite}).
			WithBrowserContextID(b.visit).Do(whole)
	}))
	b.open(url)
	b.run(chromedp.Click("#pause", chromedp.ByQuery), chromedp.Click("#copy", chromedp.ByQuery))
	b.until("it is copied", `document.getElementById("copy").textContent === "Copied"`)
	text := eval[string](b, `navigator.clipboard.readText()`)
	checkText(t, s, text)
}

// TestCopyByHand is a page that may not use the clipboard, as on an address
// without TLS: the text is there to be selected.
func TestCopyByHand(t *testing.T) {
	s := newScene(t)
	b := newTab(t)
	b.before(`Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false;`)
	b.open(serve())
	b.run(chromedp.Click("#copy", chromedp.ByQuery))
	b.until("the dialog is open", `document.getElementById("copy-dialog").open`)
	text := eval[string](b, `document.getElementById("copy-text").value`)
	checkText(t, s, text)
	if selected := eval[string](b, `getSelection().toString()`); strings.TrimSpace(selected) != strings.TrimSpace(text) {
		t.Errorf("selected is %q", selected)
	}
	b.press(keyEscape) // closes the dialog, and nothing else
	b.until("the dialog is closed", `!document.getElementById("copy-dialog").open`)
}

// checkText looks for the figures of the scene in the text of the page.
func checkText(t *testing.T, s *scene, text string) {
	t.Helper()
	plain := regexp.MustCompile(` +`).ReplaceAllString(text, " ")
	x := s.sessions.Stats()
	for _, want := range []string{
		"Haven, browser.test at ",
		"\nMemory contexts\n", "\nLimits\n", "\nContexts by name\n", "\nLargest contexts\n", "\nSlab caches\n", "\nPools\n", "\nLeaks\n",
		fmt.Sprintf("\nsessions %s %s %d %d %d %d ", commas(x.InUse), commas(x.Objects), x.ObjectSize, x.PerSlab, x.SlabsInUse, x.Slabs),
		"\nencoders *browser.encoder ",
		"\nserver/conn[18]/request[POST /import] 1.5 MiB 1 1.5 MiB ",
		"\n request[GET /report] (deleted) 400 KiB 400 KiB ",
		"× context batch dropped: ", "browser.dropBatch",
	} {
		if !strings.Contains(plain, want) {
			t.Errorf("the text has no %q:\n%s", want, text)
		}
	}
	if regexp.MustCompile(`[^\n\PC]`).MatchString(text) {
		t.Error("the text has control characters")
	}
}

// commas returns a number below a million with its thousands set apart.
func commas(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}
