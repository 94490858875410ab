package top

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

// serve returns the address of a server that is stopped at the end of the test.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// servePage answers as the debug page does with the fixed figures.
func servePage(t *testing.T) http.HandlerFunc {
	text := fixedReading(t).json
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != pagePath+statsFile || r.Method != http.MethodGet {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(text)
	}
}

// once runs the command in this process.
func once(args ...string) (status int, stdout, stderr string) {
	var out, errs bytes.Buffer
	status = Run(args, strings.NewReader(""), &out, &errs)
	return status, out.String(), errs.String()
}

// TestRead reads what was written.
func TestRead(t *testing.T) {
	u, err := statsURL(serve(t, servePage(t)))
	if err != nil {
		t.Fatal(err)
	}
	before := time.Now()
	r, err := newSource(u).read(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.stats, fixedStats()) || r.at.Before(before) || !bytes.Equal(r.json, fixedReading(t).json) {
		t.Errorf("%+v at %v\n%s", r.stats, r.at, r.json)
	}
}

// TestNotThePage checks what is said of what else may be at an address.
func TestNotThePage(t *testing.T) {
	answer := func(kind, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			io.WriteString(w, body)
		}
	}
	const register = "debugpage.Register(mux)"
	for name, tc := range map[string]struct {
		serve http.HandlerFunc
		parts []string
	}{
		"404":     {http.NotFound, []string{"404 Not Found", register}},
		"500":     {func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }, []string{"500 Internal Server Error", register}},
		"HTML":    {answer("text/html", "<!doctype html>"), []string{"not JSON (text/html)", register}},
		"empty":   {answer("application/json", ""), []string{"not JSON (application/json)", register}},
		"cut off": {answer("application/json", `{"Format":"haven/1"`), []string{"not JSON"}},
		"more":    {answer("application/json", `{"Format":"haven/1"}{}`), []string{"not JSON"}},
		"list":    {answer("application/json", `[1]`), []string{"other JSON", register}},
		"null":    {answer("application/json", `null`), []string{"other JSON", register}},
		"expvar":  {answer("application/json", `{"cmdline":["x"],"memstats":{}}`), []string{"other JSON", register}},
		"version": {answer("application/json", `{"Format":"haven/77"}`), []string{`"haven/77"`, `reads "haven/1"`, "install the haven command"}},
		"type":    {answer("application/json", `{"Format":"haven/1","Contexts":{}}`), []string{"broken", "Contexts", register}},
		"evil":    {answer("text/\u009b31m", "\x1b[2J"), []string{"not JSON", register}},
		"loop":    {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) }, []string{"no answer from", "stopped after 10 redirects"}},
		"hang-up": {func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, []string{"no answer from", "EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			status, stdout, stderr := once(serve(t, tc.serve))
			if status != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "haven top: ") || !shown(strings.TrimSuffix(stderr, "\n")) {
				t.Errorf("status %d, standard output %q, standard error %q", status, stdout, stderr)
			}
			for _, part := range append(tc.parts, "http://127.0.0.1:", statsFile) {
				if !strings.Contains(stderr, part) {
					t.Errorf("%q does not say %q", stderr, part)
				}
			}
		})
	}
}

func TestNothingThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	status, _, stderr := once(fmt.Sprintf("http://me:secret@%s", l.Addr()))
	want := fmt.Sprintf("haven top: no answer from http://me:xxxxx@%s/debug/haven/stats.json: connection refused; is the program running, and does it listen there?\n", l.Addr())
	if status != 1 || stderr != want {
		t.Errorf("status %d, %q, want %q", status, stderr, want)
	}
}

// TestBounds checks that a server cannot hold the command up, or fill its memory.
func TestBounds(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	read := func(h http.HandlerFunc, change func(*source)) error {
		u, err := url.Parse(serve(t, h))
		if err != nil {
			t.Fatal(err)
		}
		s := newSource(u)
		change(s)
		_, err = s.read(context.Background())
		return err
	}
	wait := func(r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}
	short := func(s *source) { s.timeout = 50 * time.Millisecond }
	for name, h := range map[string]http.HandlerFunc{
		"head": func(w http.ResponseWriter, r *http.Request) { wait(r) },
		"body": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"Format":`)
			w.(http.Flusher).Flush()
			wait(r)
		},
	} {
		if err := read(h, short); err == nil || !strings.Contains(err.Error(), "no answer from") || !strings.Contains(err.Error(), "in 50ms") {
			t.Errorf("%s: %v", name, err)
		}
	}
	body := fixedReading(t).json
	page := func(w http.ResponseWriter, r *http.Request) { w.Write(body) }
	if err := read(page, func(s *source) { s.most = int64(len(body)) }); err != nil {
		t.Error(err)
	}
	err := read(page, func(s *source) { s.most = int64(len(body)) - 1 })
	if err == nil || !strings.Contains(err.Error(), "is larger than "+formatBytes(len(body)-1)) {
		t.Errorf("an answer that is too large: %v", err)
	}
	if s := newSource(nil); s.timeout != 5*time.Second || s.most != 256<<20 {
		t.Errorf("bounds of %v and %d bytes", s.timeout, s.most)
	}
}
