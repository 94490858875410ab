package memhttp_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// A text makes strings in a request's memory, and lists of them.
type text struct{ a *arena.Arena }

func (t text) s(s string) string { return arena.String(t.a, s) }

func (t text) list(values ...string) []string {
	list := arena.MakeSlice[string](t.a, 0, len(values)+1)
	for _, v := range values {
		list = append(list, t.s(v))
	}
	return list
}

// headers are what handlers do with a header, and what of it a client gets. All
// names begin with X-, as do those that a client looks at.
var headers = []struct {
	name    string
	do      func(w http.ResponseWriter, t text)
	header  http.Header
	trailer http.Header
}{
	{"Set", func(w http.ResponseWriter, t text) {
		w.Header().Set(t.s("X-Key"), t.s("value"))
		io.WriteString(w, "body")
	}, http.Header{"X-Key": {"value"}}, nil},
	{"Add", func(w http.ResponseWriter, t text) {
		w.Header().Add(t.s("X-Key"), t.s("one"))
		w.Header().Add("X-Key", t.s("two"))
		w.WriteHeader(http.StatusOK)
	}, http.Header{"X-Key": {"one", "two"}}, nil},
	{"no write", func(w http.ResponseWriter, t text) {
		w.Header().Set(t.s("X-Key"), t.s("value"))
		w.Header().Set("X-Const", "value")
	}, http.Header{"X-Key": {"value"}, "X-Const": {"value"}}, nil},
	{"map assignment", func(w http.ResponseWriter, t text) {
		w.Header()[t.s("X-Key")] = []string{"value"}
	}, http.Header{"X-Key": {"value"}}, nil},
	{"list", func(w http.ResponseWriter, t text) {
		w.Header()["X-Key"] = t.list("one", "two")
		io.WriteString(w, "body")
	}, http.Header{"X-Key": {"one", "two"}}, nil},
	{"list of constants", func(w http.ResponseWriter, t text) {
		w.Header()["X-Key"] = arena.Append(t.a, nil, "one", "two")
	}, http.Header{"X-Key": {"one", "two"}}, nil},
	{"deleted and set again", func(w http.ResponseWriter, t text) {
		w.Header().Set("X-Key", "before")
		w.Header().Del("X-Key")
		w.Header().Set(t.s("X-Key"), t.s("value"))
		io.WriteString(w, "body")
		w.Header().Del("X-Key") // which comes too late
	}, http.Header{"X-Key": {"value"}}, nil},
	{"with a hint ahead", func(w http.ResponseWriter, t text) {
		w.Header().Set(t.s("X-Key"), t.s("value"))
		w.WriteHeader(http.StatusEarlyHints)
		w.Header()["X-Key"][0] = t.s("another") // in the list that was copied
		w.Header()[t.s("X-New")] = t.list("new")
		io.WriteString(w, "body")
	}, http.Header{"X-Key": {"another"}, "X-New": {"new"}}, nil},
	{"trailer", func(w http.ResponseWriter, t text) {
		w.Header().Set("Trailer", t.s("X-Key"))
		io.WriteString(w, "body")
		w.Header().Set(t.s("X-Key"), t.s("value"))
	}, nil, http.Header{"X-Key": {"value"}}},
	{"trailer set again", func(w http.ResponseWriter, t text) {
		w.Header().Set(t.s("Trailer"), t.s("X-Key"))
		w.Header().Set("X-Key", "before")
		io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header()["X-Key"][0] = t.s("after")
		w.Header().Del("Trailer")
	}, http.Header{"X-Key": {"before"}}, http.Header{"X-Key": {"after"}}},
	{"trailer in place of another", func(w http.ResponseWriter, t text) {
		w.Header().Set("Trailer", "X-Key")
		w.Header().Set("X-Other", "other")
		io.WriteString(w, "body")
		w.Header().Del("Trailer")
		w.Header().Del("X-Other")
		w.Header()[t.s("X-Key")] = t.list("value")
	}, http.Header{"X-Other": {"other"}}, http.Header{"X-Key": {"value"}}},
	{"prefix", func(w http.ResponseWriter, t text) {
		w.(http.Flusher).Flush()
		w.Header().Set(t.s(http.TrailerPrefix+"X-Key"), t.s("value"))
	}, nil, http.Header{"X-Key": {"value"}}},
	{"prefix set again", func(w http.ResponseWriter, t text) {
		w.Header().Set(t.s(http.TrailerPrefix+"X-Key"), "before")
		io.WriteString(w, "body")
		w.(http.Flusher).Flush()
		w.Header().Set(t.s(http.TrailerPrefix+"X-Key"), t.s("after"))
	}, nil, http.Header{"X-Key": {"after"}}},
	{"prefix in place of a header", func(w http.ResponseWriter, t text) {
		w.Header().Set("X-Other", "other")
		w.(http.Flusher).Flush()
		w.Header().Del("X-Other")
		w.Header()[t.s(http.TrailerPrefix+"X-Key")] = t.list("value")
	}, http.Header{"X-Other": {"other"}}, http.Header{"X-Key": {"value"}}},
}

// foreign uses warm memory, text and lists, as the next request does.
func foreign(root *memctx.Context) {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := text{memctx.FromContext(r.Context()).Arena()}
		for range 20 {
			t.list(strings.Repeat("foreign ", 10), "foreign", "foreign")
		}
	}), memhttp.Config{Parent: root})
	for range 4 {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/foreign", nil))
	}
}

// around has f called when a server's handler has returned, and its memory context
// has ended, with the ResponseWriter that net/http goes on with.
func around(ts *httptest.Server, f func(w http.ResponseWriter)) {
	h := ts.Config.Handler
	ts.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		f(w)
	})
}

// TestHeader has handlers make headers and trailers of their memory, in all ways.
// Between the end of the memory and what net/http does after that others use it.
func TestHeader(t *testing.T) {
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		for _, c := range headers {
			t.Run(strings.ReplaceAll(proto, "/", "")+"/"+c.name, func(t *testing.T) {
				root := memctx.New("other")
				s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					c.do(w, text{memctx.FromContext(r.Context()).Arena()})
				}), func(ts *httptest.Server) {
					around(ts, func(http.ResponseWriter) { foreign(root) })
					if proto == "HTTP/1.1" {
						ts.Start()
					} else {
						http2(ts)
					}
				})
				for range 3 {
					res, err := s.Client().Get(s.URL)
					if err != nil {
						t.Fatal(err)
					}
					_, err = io.ReadAll(res.Body)
					res.Body.Close()
					if err != nil || res.Proto != proto {
						t.Errorf("%s: %v", res.Proto, err)
					}
					wantHeader(t, "header", res.Header, c.header)
					wantHeader(t, "trailer", res.Trailer, c.trailer)
				}
				root.Delete()
			})
		}
	}
}

// wantHeader compares those fields of a header whose names a test chose, or nobody.
func wantHeader(t *testing.T, what string, got, want http.Header) {
	t.Helper()
	got = maps.Clone(got)
	maps.DeleteFunc(got, func(key string, _ []string) bool {
		switch key {
		case "Content-Type", "Content-Length", "Date", "Trailer":
			return true
		}
		return false
	})
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s is %q, want %q", what, got, want)
	}
}

// TestHeaderOutside has a handler outside read the header when the one inside has
// returned, as an access log does, and add to it. The one inside changes one thing
// of the header after it was written, or before.
func TestHeaderOutside(t *testing.T) {
	root := memctx.New("server")
	for name, c := range map[string]struct {
		change func(h http.Header, t text)
		want   http.Header
	}{
		"nothing": {func(http.Header, text) {}, http.Header{"X-Key": {"value", "outside"}}},
		"name": {func(h http.Header, t text) { h[t.s("X-New")] = h["X-Key"] },
			http.Header{"X-Key": {"value", "outside"}, "X-New": {"value"}}},
		"name without a value": {func(h http.Header, t text) { h[t.s("X-Nil")] = nil },
			http.Header{"X-Key": {"value", "outside"}, "X-Nil": nil}},
		"value": {func(h http.Header, t text) { h["X-Key"][0] = t.s("after") }, http.Header{"X-Key": {"after", "outside"}}},
		"list": {func(h http.Header, t text) {
			for key, list := range h { // an assignment with another key may set that as well
				if key == "X-Key" {
					h[key] = arena.Append(t.a, nil, list[0], list[0])
				}
			}
		}, http.Header{"X-Key": {"value", "value", "outside"}}},
		"list with room": {func(h http.Header, t text) { h["X-Key"] = arena.MakeSlice[string](t.a, 0, 3) },
			http.Header{"X-Key": {"outside"}}},
	} {
		for _, written := range []bool{false, true} {
			w := httptest.NewRecorder()
			memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				t := text{memctx.FromContext(r.Context()).Arena()}
				w.Header().Set(t.s("X-Key"), t.s("value"))
				w.Header().Set("Content-Type", "text/plain") // or the writer below would
				if written {
					io.WriteString(w, "body")
				}
				c.change(w.Header(), t)
			}), memhttp.Config{Parent: root}).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
			w.Header().Add("X-Key", "outside")
			foreign(root)
			wantHeader(t, fmt.Sprintf("%s, written %v: header", name, written), w.Header(), c.want)
		}
	}
	verifyNone(t, root)
}

// keeper is a ResponseWriter that keeps what it is given, as net/http may.
type keeper struct {
	http.ResponseWriter
	hints  http.Header
	target string
	pushed *http.PushOptions
}

func (k *keeper) WriteHeader(status int) {
	if status < 200 {
		k.hints = k.Header().Clone() // which copies no strings
	}
	k.ResponseWriter.WriteHeader(status)
}

func (k *keeper) Push(target string, opts *http.PushOptions) error {
	k.target, k.pushed = target, opts
	return nil
}

// TestHeaderKept checks what net/http may read late, and not always does: the header
// of a status ahead of the answer, if the connection ends meanwhile, and what is
// pushed, which is a request of its own.
func TestHeaderKept(t *testing.T) {
	root := memctx.New("server")
	k := &keeper{ResponseWriter: httptest.NewRecorder()}
	memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := text{memctx.FromContext(r.Context()).Arena()}
		w.Header()[t.s("X-Key")] = t.list("value")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("X-Key")
		w.(http.Pusher).Push(t.s("/target"), &http.PushOptions{
			Method: t.s("HEAD"), Header: http.Header{t.s("X-Push"): t.list("pushed")},
		})
	}), memhttp.Config{Parent: root}).ServeHTTP(k, httptest.NewRequest("GET", "/", nil))
	foreign(root)
	wantHeader(t, "header of a hint", k.hints, http.Header{"X-Key": {"value"}})
	wantHeader(t, "header of a push", k.pushed.Header, http.Header{"X-Push": {"pushed"}})
	if k.target != "/target" || k.pushed.Method != "HEAD" {
		t.Errorf("pushed %q %q", k.pushed.Method, k.target)
	}
	memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Pusher).Push("/", nil)
	}), memhttp.Config{Parent: root}).ServeHTTP(k, httptest.NewRequest("GET", "/", nil))
	if k.target != "/" || k.pushed != nil {
		t.Errorf("pushed %q with %v", k.target, k.pushed)
	}
	verifyNone(t, root)
}

// TestHeaderCost checks that a header is not copied if nobody asked for memory, and
// once if it does not change after it was written.
func TestHeaderCost(t *testing.T) {
	testkit.NeedsExactAllocs(t)
	testkit.NeedsReuse(t)
	root := memctx.New("server")
	values := []string{"value"}
	w := &sink{header: http.Header{}}
	r := httptest.NewRequest("GET", "/", nil)
	allocs := func(asks, sets, writes bool) float64 {
		h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asks {
				arena.MakeSlice[byte](memctx.FromContext(r.Context()).Arena(), 8, 8)
			}
			if sets {
				w.Header()["X-Key"] = values
			}
			if writes {
				w.WriteHeader(http.StatusOK)
			}
		}), memhttp.Config{Parent: root})
		return testing.AllocsPerRun(100, func() {
			clear(w.header)
			h.ServeHTTP(w, r)
		})
	}
	for _, writes := range []bool{false, true} {
		for asks, want := range map[bool]float64{false: 0, true: 2} {
			if got := allocs(asks, true, writes) - allocs(asks, false, writes); got != want {
				t.Errorf("asks %v, writes %v: the header costs %v allocations, want %v", asks, writes, got, want)
			}
		}
	}
	verifyNone(t, root)
}

// TestHeaderIsolation has many clients at the same time whose answers have a header
// and trailers in their requests' memory, names and values, with the number of the
// request in each. No client must see another's.
func TestHeaderIsolation(t *testing.T) {
	total := 8000
	if testing.Short() || raceEnabled {
		total = 1600
	}
	name := func(id int) string { return fmt.Sprintf("X-Name-%d", id) }
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(strings.ReplaceAll(proto, "/", ""), func(t *testing.T) {
			s := serveWith(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				t, id := text{memctx.FromContext(r.Context()).Arena()}, int(number(r.URL.RawQuery))
				w.Header().Set(t.s(name(id)), t.s(fmt.Sprint(id)))
				w.Header()["Trailer"] = t.list(name(id) + "-Declared")
				if id%2 == 0 {
					w.(http.Flusher).Flush()
				} else {
					io.WriteString(w, "body")
				}
				w.Header()[t.s(name(id)+"-Declared")] = t.list(fmt.Sprint(id))
				w.Header().Set(t.s(http.TrailerPrefix+name(id)), t.s(fmt.Sprint(id)))
			}), func(ts *httptest.Server) {
				if proto == "HTTP/1.1" {
					ts.Start()
				} else {
					http2(ts)
				}
			})
			s.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 16
			const workers = 16
			var wg sync.WaitGroup
			for worker := range workers {
				wg.Add(1)
				go func() {
					defer wg.Done()
					for id := worker; id < total && !t.Failed(); id += workers {
						res, err := s.Client().Get(fmt.Sprintf("%s/?%d", s.URL, id))
						if err != nil {
							t.Error(err)
							return
						}
						_, err = io.ReadAll(res.Body)
						res.Body.Close()
						if err != nil || res.Proto != proto {
							t.Errorf("%s: %v", res.Proto, err)
						}
						value := []string{fmt.Sprint(id)}
						wantHeader(t, fmt.Sprint("header of request ", id), res.Header, http.Header{name(id): value})
						wantHeader(t, fmt.Sprint("trailer of request ", id), res.Trailer, http.Header{
							name(id): value, name(id) + "-Declared": value,
						})
					}
				}()
			}
			wg.Wait()
		})
	}
}
