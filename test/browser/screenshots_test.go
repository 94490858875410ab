package browser

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

var screenshots = flag.String("screenshots", "", "folder to write screenshots of the debug page to; without it, to one of the test's own")

// TestScreenshots takes pictures of the page, on a desktop and on a phone, in
// light and dark, and checks what a program can see in them: that nothing hangs
// over the right edge, and that dark is dark.
func TestScreenshots(t *testing.T) {
	newScene(t)
	url := serve()
	dir := *screenshots
	if dir == "" {
		dir = t.TempDir()
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, width := range []int64{390, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			t.Run(fmt.Sprintf("%d-%s", width, scheme), func(t *testing.T) {
				b := newTab(t)
				b.screen(width, scheme)
				b.open(url)
				if w := eval[int64](b, `document.documentElement.scrollWidth`); w > width {
					t.Errorf("the page is %d pixels wide, the screen is %d", w, width)
				}
				ground := eval[[]int](b, `getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)`)
				if dark := ground[0]+ground[1]+ground[2] < 3*128; dark != (scheme == "dark") {
					t.Errorf("the background is %v", ground)
				}
				var shot []byte
				b.run(chromedp.FullScreenshot(&shot, 100))
				picture, err := png.Decode(bytes.NewReader(shot))
				if err != nil {
					t.Fatal(err)
				}
				if w := int64(picture.Bounds().Dx()); w%width != 0 {
					t.Errorf("the picture is %d pixels wide", w)
				}
				file := filepath.Join(dir, fmt.Sprintf("debugpage-%d-%s.png", width, scheme))
				if err := os.WriteFile(file, shot, 0o666); err != nil {
					t.Fatal(err)
				}
				t.Log(file)
			})
		}
	}
}
