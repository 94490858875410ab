package debugpage

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	"github.com/haven-mem/haven/memctx"
)

// Path is where [Register] puts the page.
const Path = "/debug/haven/"

// Register serves the page below [Path] on mux: the page itself, stats.json, what
// [memctx.WriteProfile] writes as profile, and what the page loads. It panics as mux does if something is registered there
// already. The first Register starts the goroutine that takes samples for the
// history; it runs as long as the program.
//
// The page shows the insides of the program: names and identifiers of contexts,
// stacks, how much it has to do. Whoever can reach mux can see them, and can make
// the program do some work for each request. So put it on a mux of its own that
// listens on an internal address, or behind a login.
func Register(mux *http.ServeMux) {
	startSampling()
	mux.Handle(Path, http.StripPrefix(strings.TrimSuffix(Path, "/"), Handler()))
}

// Handler returns the page for a place other than [Path], or for a router other
// than net/http's. It answers for the paths /, /stats.json, /profile and /static/…, so it
// wants the prefix stripped; the page's own links are relative, so its address
// must end in a slash:
//
//	mux.Handle("/internal/memory/", http.StripPrefix("/internal/memory", debugpage.Handler()))
//
// The first request starts the goroutine that takes samples. See [Register] for
// who should be able to reach it. Any number of goroutines may use the handler.
func Handler() http.Handler {
	return &handler{take: memctx.TakeSnapshot, history: sampled, start: startSampling}
}

type handler struct {
	take    func() *memctx.Snapshot
	history *history
	start   func()
}

//go:embed static
var static embed.FS

// policy forbids all that the page does not need: what is not a file of its own
// never runs, whatever a name of a context looks like. Markup cannot be made from
// strings at all.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", policy)
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, fmt.Sprintf("method %s: want GET or HEAD", r.Method), http.StatusMethodNotAllowed)
		return
	}
	body, kind, err := h.file(r.URL.Path)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case kind == "":
		http.NotFound(w, r)
	default:
		head.Set("Content-Type", kind)
		head.Set("Content-Length", strconv.Itoa(len(body)))
		w.Write(body) // net/http leaves it out for HEAD; whom it does not reach is gone
	}
}

// file returns what is at a path, and its media type, which is empty if nothing
// is.
func (h *handler) file(name string) (body []byte, kind string, err error) {
	switch name {
	case "/":
		h.start()
		var b bytes.Buffer
		err := page.Execute(&b, newView(collect(h.take, h.history)))
		return b.Bytes(), "text/html; charset=utf-8", err
	case "/stats.json":
		h.start()
		body, err := json.Marshal(collect(h.take, h.history))
		return body, "application/json", err
	case "/profile":
		var b bytes.Buffer
		err := memctx.WriteProfile(&b)
		return b.Bytes(), "application/octet-stream", err
	}
	kind, known := map[string]string{
		".css": "text/css; charset=utf-8",
		".js":  "text/javascript; charset=utf-8",
		".svg": "image/svg+xml",
	}[path.Ext(name)]
	if !known || !strings.HasPrefix(name, "/static/") {
		return nil, "", nil
	}
	body, err = static.ReadFile(name[1:])
	if err != nil { // there is no such file: embedded ones can be read
		return nil, "", nil
	}
	return body, kind, nil
}
