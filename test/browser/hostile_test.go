package browser

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// Names that would run if they were markup, or end what they stand in.
const (
	hostileName  = `<img src=x onerror="window.owned = 1">`
	hostileIdent = `</script><script>window.owned = 1</script>` + "'\"`${window.owned = 1}"
)

// TestNamesAreText gives everything that has a name one that is markup.
func TestNamesAreText(t *testing.T) {
	newScene(t)
	check.SampleStacks(1)
	defer check.SampleStacks(128)
	mc := memctx.New(hostileName, memctx.Config{Ident: hostileIdent, Limit: 50 << 20})
	defer mc.Delete()
	use(mc, 30<<20) // the largest of all
	cache := slab.NewCache[[3]int](slab.Config[[3]int]{Name: hostileName})
	cache.Alloc()
	buffers := pool.NewBytes(pool.BytesConfig{Name: hostileName})
	buffers.Put(buffers.Get(100))
	func() { memctx.New(hostileName + " dropped") }()
	for !slices.ContainsFunc(check.Leaks(), func(l check.Finding) bool { return l.Name == hostileName+" dropped" }) {
		runtime.GC()
	}

	b := newTab(t)
	b.screen(1280, "light")
	b.before(`window.owned = 0; Object.defineProperty(navigator, "clipboard", { value: undefined }); document.execCommand = () => false;`)
	url := serve()
	b.open(url)
	label := hostileName + "[" + hostileIdent + "]"
	shown := func(where, want string) {
		t.Helper()
		if !eval[bool](b, fmt.Sprintf(`[...document.querySelectorAll(%q)].some((e) => e.textContent === %q)`, where, want)) {
			t.Errorf("%s: no text is %s", where, want)
		}
	}
	look := func() {
		t.Helper()
		shown("#names tbody th", hostileName)
		shown("#ranked tbody th", label)
		shown("#limits tbody th", label)
		shown("#caches tbody th", hostileName)
		shown("#pools tbody th", hostileName)
		shown("#leaks h3", "dropped context "+hostileName+" dropped")
		if n := eval[int](b, `document.querySelectorAll("img, iframe, object, body script").length`); n != 0 {
			t.Errorf("the page has %d elements that are not its own", n)
		}
	}
	look()
	b.toIcicle()
	b.press(keyDown) // the largest
	shown("#icicle-detail code", label)
	b.press(keyEnter)
	shown("#crumbs button", label)
	shown("#icicle-boxes text", label+"  30.0 MiB")
	eval[any](b, `document.getElementById("copy").click()`)
	b.until("the text is there", `document.getElementById("copy-dialog").open`)
	if !eval[bool](b, fmt.Sprintf(`document.getElementById("copy-text").value.includes(%q)`, label)) {
		t.Error("the text of the page does not have the name")
	}
	if eval[bool](b, `window.owned !== 0`) {
		t.Error("a name ran")
	}

	b.scripts(false)
	b.load(url)
	look()
	shown("#contexts tbody th", label)
	runtime.KeepAlive(cache)
	runtime.KeepAlive(buffers)
}
