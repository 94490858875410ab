package browser

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long a condition may take to come true. It is for slow machines:
// what is waited for comes in well under a second, or with the page's next
// question two seconds later.
const patience = 30 * time.Second

// theBrowser is one process for all tests. Each has a tab of its own, without what
// others left.
var theBrowser struct {
	sync.Once
	ctx   context.Context
	close func()
	err   error
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if theBrowser.close != nil {
		theBrowser.close()
	}
	theServer().Close()
	os.Exit(code)
}

// start starts the browser, or skips the test if there is none.
func start(t *testing.T) context.Context {
	t.Helper()
	theBrowser.Do(func() {
		var path string
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless-shell"} {
			if p, err := exec.LookPath(name); err == nil {
				path = p
				break
			}
		}
		if path == "" {
			return
		}
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox) // which root cannot have
		}
		allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
		ctx, end := chromedp.NewContext(allocator, chromedp.WithErrorf(quiet))
		theBrowser.ctx, theBrowser.err = ctx, chromedp.Run(ctx)
		theBrowser.close = func() {
			end()
			stop()
		}
	})
	if theBrowser.err != nil {
		t.Fatalf("the browser does not start: %v", theBrowser.err)
	}
	if theBrowser.ctx == nil {
		t.Skip("there is no Chromium or Chrome in PATH: install the package chromium to run this test")
	}
	return theBrowser.ctx
}

// quiet drops what the protocol's library says about messages that are newer than
// it is.
func quiet(string, ...any) {}

// A tab is a tab of the browser that takes note of all that goes wrong in it.
type tab struct {
	t   *testing.T
	ctx context.Context

	visit cdp.BrowserContextID // what a private window is to a user

	mu     sync.Mutex
	faults []string
}

// newTab returns an empty tab. At the end of the test it must have seen no error
// in the console, no exception, and nothing that the policy forbids.
func newTab(t *testing.T) *tab {
	t.Helper()
	b := openTab(t)
	t.Cleanup(func() {
		for _, f := range b.seen() {
			t.Errorf("the browser reports: %s", f)
		}
	})
	return b
}

// openTab is newTab for who expects faults.
func openTab(t *testing.T) *tab {
	t.Helper()
	parent := start(t)
	whole := cdp.WithExecutor(parent, chromedp.FromContext(parent).Browser)
	visit, err := target.CreateBrowserContext().Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	// A tab of another visit than the first needs a window: headless too.
	id, err := target.CreateTarget("about:blank").WithBrowserContextID(visit).WithNewWindow(true).Do(whole)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithTargetID(id))
	t.Cleanup(func() {
		cancel()
		target.DisposeBrowserContext(visit).Do(whole)
	})
	b := &tab{t: t, ctx: ctx, visit: visit}
	chromedp.ListenTarget(ctx, b.note)
	if err := chromedp.Run(ctx); err != nil { // the tab ends with the context that makes it
		t.Fatal(err)
	}
	b.run(audits.Enable(), log.Enable(), runtime.Enable(), page.Enable())
	b.before(`
		window.faults = [];
		document.addEventListener("securitypolicyviolation", (e) => window.faults.push(e.violatedDirective + " forbids " + (e.blockedURI || e.sample)));
		window.addEventListener("error", (e) => window.faults.push(String(e.message)));
		window.addEventListener("unhandledrejection", (e) => window.faults.push(String(e.reason)));`)
	return b
}

// note takes note of a fault.
func (b *tab) note(event any) {
	var fault string
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
			fault = fmt.Sprintf("%s %s: %s %s", e.Entry.Source, e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		switch e.Type {
		case runtime.APITypeError, runtime.APITypeWarning, runtime.APITypeAssert:
			text, _ := json.Marshal(e.Args)
			fault = fmt.Sprintf("console.%s: %s", e.Type, text)
		}
	case *runtime.EventExceptionThrown:
		fault = "exception: " + e.ExceptionDetails.Error()
	case *audits.EventIssueAdded:
		if e.Issue.Details.ContentSecurityPolicyIssueDetails != nil {
			text, _ := json.Marshal(e.Issue.Details.ContentSecurityPolicyIssueDetails)
			fault = "policy: " + string(text)
		}
	case *network.EventLoadingFailed:
		if e.BlockedReason != "" {
			fault = "blocked: " + e.BlockedReason.String()
		}
	}
	if fault == "" {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fault)
}

// seen returns the faults up to now.
func (b *tab) seen() []string {
	b.t.Helper()
	var inPage []string
	if err := chromedp.Run(b.ctx, chromedp.Evaluate(`window.faults ?? []`, &inPage)); err != nil {
		inPage = append(inPage, err.Error())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return append(inPage, b.faults...)
}

// run does something, which must work.
func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Run(ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// before has a script run in each page before its own.
func (b *tab) before(script string) {
	b.t.Helper()
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		_, err := page.AddScriptToEvaluateOnNewDocument(script).Do(ctx)
		return err
	}))
}

// open loads a page, and waits until its scripts have shown the figures.
func (b *tab) open(url string) {
	b.t.Helper()
	b.run(chromedp.Navigate(url))
	b.until("the page is live", `document.getElementById("state").textContent === "Live"`)
}

// eval returns what a JavaScript expression gives, or the promise that it gives.
func eval[T any](b *tab, expression string) (v T) {
	b.t.Helper()
	b.run(chromedp.Evaluate(expression, &v, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
	return v
}

// until waits for a JavaScript expression to become true.
func (b *tab) until(what, expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		if eval[bool](b, "!!("+expression+")") {
			return
		}
		if time.Now().After(deadline) {
			b.t.Fatalf("it does not come to pass that %s: %s\nfaults: %s", what, expression, strings.Join(b.seen(), "\n"))
		}
	}
}

// press presses keys, one after the other.
func (b *tab) press(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.run(chromedp.KeyEvent(k))
	}
}

// Keys.
const (
	keyTab    = kb.Tab
	keyEnter  = kb.Enter
	keyEscape = kb.Escape
	keyUp     = kb.ArrowUp
	keyDown   = kb.ArrowDown
	keyLeft   = kb.ArrowLeft
	keyRight  = kb.ArrowRight
	keyHome   = kb.Home
	keyEnd    = kb.End
)

// screen sets the size of the screen, as of a phone if it is narrow, and the
// colour scheme.
func (b *tab) screen(width int64, scheme string) {
	b.t.Helper()
	narrow := width < 600
	scale := 1.0
	if narrow {
		scale = 2
	}
	b.run(
		emulation.SetDeviceMetricsOverride(width, 844, scale, narrow),
		emulation.SetTouchEmulationEnabled(narrow),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"},
		}),
	)
}
