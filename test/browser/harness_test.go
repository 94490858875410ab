package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestHarness checks that what the other tests rely on is seen: each of these
// pages does something that must be reported.
func TestHarness(t *testing.T) {
	for name, c := range map[string]struct{ policy, page, want string }{
		"script in the page":    {"script-src 'self'", `<script>window.ran = true</script>`, "script-src"},
		"style in an element":   {"style-src 'self'", `<p style="color: red">x`, "style-src"},
		"handler in an element": {"script-src 'self'", `<img src="data:," onerror="window.ran = true">`, "script-src"},
		"markup from a string":  {"require-trusted-types-for 'script'", `<p id="p"></p><script>document.getElementById("p").innerHTML = "<b>x</b>"</script>`, "require-trusted-types-for"},
		"image from elsewhere":  {"img-src 'none'", `<img src="http://127.0.0.1:1/x.png">`, "img-src"},
		"console":               {"", `<script>console.error("oh no")</script>`, "oh no"},
		"exception":             {"", `<script>throw new Error("oh dear")</script>`, "oh dear"},
		"missing file":          {"", `<script src="/nothing.js"></script>`, "404"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/" {
					http.NotFound(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				w.Header().Set("Content-Security-Policy", c.policy)
				fmt.Fprint(w, `<!doctype html><link rel="icon" href="data:,">`+c.page)
			}))
			defer server.Close()
			b := openTab(t)
			b.run(chromedp.Navigate(server.URL))
			if seen := strings.Join(b.seen(), "\n"); !strings.Contains(seen, c.want) {
				t.Errorf("reported is %q, want %q", seen, c.want)
			}
			if eval[bool](b, `window.ran === true`) {
				t.Error("it ran")
			}
		})
	}
}
