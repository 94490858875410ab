package browser

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// TestAccessibility reads the page as a screen reader gets it.
func TestAccessibility(t *testing.T) {
	newScene(t)
	b := newTab(t)
	b.screen(1280, "light")
	b.open(serve())
	// Not with the library's types, which know no values that are newer than they.
	type value struct {
		Value any `json:"value"`
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool  `json:"ignored"`
			Role       value `json:"role"`
			Name       value `json:"name"`
			Properties []struct {
				Name  string `json:"name"`
				Value value  `json:"value"`
			} `json:"properties"`
		} `json:"nodes"`
	}
	b.run(chromedp.ActionFunc(func(ctx context.Context) error {
		return cdp.Execute(ctx, "Accessibility.getFullAXTree", nil, &tree)
	}))
	names := map[string][]string{} // by role
	for _, n := range tree.Nodes {
		if n.Ignored {
			continue
		}
		role, name := fmt.Sprint(n.Role.Value), ""
		if s, ok := n.Name.Value.(string); ok {
			name = s
		}
		names[role] = append(names[role], name)
		for _, p := range n.Properties {
			if p.Name == "focusable" && p.Value.Value == true && name == "" && role != "RootWebArea" {
				t.Errorf("a %s can have the focus and has no name", role)
			}
		}
		switch role {
		case "tree", "treeitem", "table", "columnheader", "rowheader", "button", "region", "navigation", "img", "image":
			if name == "" && role != "table" {
				t.Errorf("a %s has no name", role)
			}
		}
	}
	for role, want := range map[string]string{
		"tree": "Memory contexts", "button": "Pause Copy as text all contexts", "heading": "Leaks Memory contexts Limits Contexts by name Largest contexts Slab caches Pools",
		"columnheader": "active_objs objsize Hit rate", "rowheader": "sessions encoders", "navigation": "Panels Zoom", "status": "",
	} {
		all := strings.Join(names[role], " ")
		if len(names[role]) == 0 {
			t.Errorf("there is no %s", role)
		}
		for _, word := range strings.Fields(want) {
			if !strings.Contains(all, word) {
				t.Errorf("no %s has %q in its name: %s", role, word, all)
			}
		}
	}
	curves := 0
	for _, name := range append(names["img"], names["image"]...) {
		if strings.HasPrefix(name, "heap: ") || strings.HasPrefix(name, "contexts: ") {
			curves++
		}
	}
	if curves != 2 {
		t.Errorf("the curves are called %q", append(names["img"], names["image"]...))
	}
	if n := len(names["treeitem"]); n < 25 {
		t.Errorf("the tree has %d items", n)
	}
}

// contrast is JavaScript that returns the texts whose colour is too close to what
// is behind them: WCAG 2 wants 4.5, and 3 where the text is large.
const contrast = `(() => {
	const parse = (s) => { const [r, g, b, a = 1] = s.match(/[\d.]+/g).map(Number); return { r, g, b, a }; };
	const over = (top, below) => ({ r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a), b: top.b * top.a + below.b * (1 - top.a), a: 1 });
	const light = ({ r, g, b }) => {
		const f = (c) => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
		return 0.2126 * f(r) + 0.7152 * f(g) + 0.0722 * f(b);
	};
	const ground = (e) => {
		if (e.closest(".box")) return parse(getComputedStyle(e.closest(".box").querySelector(".fill")).fill);
		const layers = [];
		for (let x = e; x; x = x.parentElement) layers.unshift(parse(getComputedStyle(x).backgroundColor));
		return layers.reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 });
	};
	const bad = new Map();
	let seen = 0;
	const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n; (n = walk.nextNode());) {
		const e = n.parentElement;
		if (n.data.trim() === "" || !e.checkVisibility({ opacityProperty: true }) || ["title", "NOSCRIPT", "SCRIPT"].includes(e.tagName) || e.disabled) continue;
		seen++;
		const style = getComputedStyle(e);
		const below = ground(e);
		let opacity = 1;
		for (let x = e; x; x = x.parentElement) opacity *= getComputedStyle(x).opacity;
		const colour = parse(e.closest("svg.box") ? style.fill : style.color);
		colour.a *= opacity;
		const [a, b] = [light(over(colour, below)), light(below)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.set(e.tagName + "." + (e.getAttribute("class") ?? "") + " in " + e.parentElement.className, n.data.trim().slice(0, 20) + " " + ratio.toFixed(2));
	}
	return [["seen", String(seen)], ...bad];
})()`

// TestContrast checks that everything can be read, in light and dark.
func TestContrast(t *testing.T) {
	newScene(t)
	url := serve()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280} {
			t.Run(fmt.Sprintf("%s-%d", scheme, width), func(t *testing.T) {
				b := newTab(t)
				b.screen(width, scheme)
				b.open(url)
				eval[any](b, `void document.querySelectorAll("details").forEach((d) => d.open = true)`)
				list := eval[[][]string](b, contrast)
				if list[0][1] < "2" || len(list[0][1]) < 3 {
					t.Errorf("%s texts were looked at", list[0][1])
				}
				for _, bad := range list[1:] {
					t.Errorf("%s: %s", bad[0], bad[1])
				}
			})
		}
	}
}

// TestFormat takes static/format.js through the cases that format.go is tested
// with.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile("../../debugpage/testdata/format.json")
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open(serve())
	wrong := eval[[]string](b, `import(new URL("static/format.js", location)).then((format) =>
		Object.entries(`+string(text)+`).flatMap(([name, cases]) => cases
			.map((c) => [name, c, format[name](...c.slice(0, -1))])
			.filter(([name, c, got]) => got !== c.at(-1))
			.map((x) => JSON.stringify(x))))`)
	for _, w := range wrong {
		t.Errorf("function, arguments and what is wanted, what came: %s", w)
	}
}
