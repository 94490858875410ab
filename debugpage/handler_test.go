package debugpage_test

import (
	"compress/gzip"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

func TestHeaders(t *testing.T) {
	h := debugpage.HandlerOf(fake)
	for _, r := range [][2]string{{"GET", "/"}, {"GET", "/stats.json"}, {"GET", "/profile"}, {"GET", "/static/app.js"}, {"GET", "/nothing"}, {"POST", "/"}} {
		head := get(t, h, r[0], r[1]).Result().Header
		for name, want := range map[string]string{
			"Content-Security-Policy":      debugpage.Policy,
			"X-Content-Type-Options":       "nosniff",
			"Cache-Control":                "no-store",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := head.Get(name); got != want {
				t.Errorf("%s %s: %s: %q, want %q", r[0], r[1], name, got, want)
			}
		}
	}
}

// TestPolicy checks the policy itself: everything is forbidden that is not
// listed, and nothing listed lets text of a page run.
func TestPolicy(t *testing.T) {
	directives := map[string]string{}
	for _, d := range strings.Split(debugpage.Policy, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(d), " ")
		directives[name] = value
	}
	for name, want := range map[string]string{
		"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self'",
		"frame-ancestors": "'none'", "base-uri": "'none'", "form-action": "'none'", "require-trusted-types-for": "'script'",
	} {
		if got := directives[name]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		delete(directives, name)
	}
	if len(directives) > 0 {
		t.Errorf("also %v", directives)
	}
}

func TestMethods(t *testing.T) {
	h := debugpage.HandlerOf(fake)
	for _, method := range []string{"POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"} {
		for _, path := range []string{"/", "/stats.json", "/nothing"} {
			w := get(t, h, method, path)
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" {
				t.Errorf("%s %s: status %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
}

func TestHead(t *testing.T) {
	server := httptest.NewServer(debugpage.HandlerOf(fake))
	defer server.Close()
	for _, path := range []string{"/", "/stats.json", "/static/page.css"} {
		r, err := http.Head(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || len(body) > 0 || r.StatusCode != http.StatusOK || r.ContentLength <= 0 {
			t.Errorf("HEAD %s: status %d, length %d, body of %d bytes, %v", path, r.StatusCode, r.ContentLength, len(body), err)
		}
	}
}

func TestUnknownPaths(t *testing.T) {
	h := debugpage.HandlerOf(fake)
	for _, path := range []string{"/nothing", "/stats", "/stats.json/", "/static", "/static/", "/static/none.js", "/static/../stats.go",
		"/static/../static/app.js", "/templates/page.html.tmpl", "/app.js", "//", "/index.html"} {
		if w := get(t, h, "GET", path); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", path, w.Code)
		}
	}
	r := httptest.NewRequest("GET", "/x", nil)
	r.URL.Path = "" // as after http.StripPrefix of an address without the slash
	w := httptest.NewRecorder()
	if h.ServeHTTP(w, r); w.Code != http.StatusNotFound {
		t.Errorf("the empty path: status %d, want 404", w.Code)
	}
}

// TestStatic fetches each file, with its type.
func TestStatic(t *testing.T) {
	h := debugpage.HandlerOf(fake)
	files := 0
	err := fs.WalkDir(debugpage.Static, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		w := get(t, h, "GET", "/"+name)
		kind, _, _ := mime.ParseMediaType(w.Header().Get("Content-Type"))
		want := map[string]string{".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}[path.Ext(name)]
		if w.Code != http.StatusOK || kind != want || w.Body.Len() == 0 {
			t.Errorf("%s: status %d, type %q, %d bytes", name, w.Code, kind, w.Body.Len())
		}
		return nil
	})
	if err != nil || files < 10 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestProfile fetches the profile, which go tool pprof reads.
func TestProfile(t *testing.T) {
	mc := memctx.New("profiled root")
	defer mc.Delete()
	w := get(t, debugpage.HandlerOf(fake), "GET", "/profile")
	if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || kind != "application/octet-stream" {
		t.Fatalf("status %d, type %q", w.Code, kind)
	}
	r, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(r); err != nil || !strings.Contains(string(text), "profiled root") {
		t.Errorf("%q, %v", text, err)
	}
}

var (
	links   = regexp.MustCompile(`(?:href|src)="([^"]*)"`)
	imports = regexp.MustCompile(`(?m)^import .* from "([^"]*)";`)
)

// TestLinks follows every link of the page, and every import of its scripts, from
// where Register puts it and from elsewhere: none leaves the place.
func TestLinks(t *testing.T) {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	mux.Handle("/else/where/", http.StripPrefix("/else/where", debugpage.Handler()))
	for _, base := range []string{debugpage.Path, "/else/where/"} {
		seen := map[string]bool{}
		todo := []string{base}
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			if seen[at] {
				continue
			}
			seen[at] = true
			w := get(t, mux, "GET", at)
			if w.Code != http.StatusOK {
				t.Errorf("%s: status %d", at, w.Code)
			}
			pattern := imports
			if at == base {
				pattern = links
			} else if !strings.HasSuffix(at, ".js") {
				continue
			}
			from, _ := url.Parse(at)
			for _, m := range pattern.FindAllStringSubmatch(w.Body.String(), -1) {
				if strings.HasPrefix(m[1], "#") {
					if !strings.Contains(w.Body.String(), `id="`+m[1][1:]+`"`) {
						t.Errorf("%s links to %s, which it does not have", at, m[1])
					}
					continue
				}
				to, err := from.Parse(m[1])
				if err != nil || to.Host != "" || !strings.HasPrefix(to.Path, base) {
					t.Errorf("%s links to %s", at, m[1])
					continue
				}
				todo = append(todo, to.Path)
			}
		}
		err := fs.WalkDir(debugpage.Static, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && !seen[base+name] {
				t.Errorf("nothing at %s leads to %s", base, name)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestRegister(t *testing.T) {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	w := get(t, mux, "GET", "/debug/haven")
	if to := w.Header().Get("Location"); w.Code/100 != 3 || to != debugpage.Path {
		t.Errorf("without the slash: status %d to %q", w.Code, to)
	}
	if w := get(t, mux, "GET", "/debug/haven/nothing"); w.Code != http.StatusNotFound {
		t.Errorf("an unknown path: status %d", w.Code)
	}
	if _, pattern := http.DefaultServeMux.Handler(httptest.NewRequest("GET", debugpage.Path, nil)); pattern != "" {
		t.Errorf("the default mux has %q", pattern)
	}
	testkit.Panic(t, func() { debugpage.Register(mux) })
}
