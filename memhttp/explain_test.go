//go:build haven_check

package memhttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
	"github.com/haven-mem/haven/slab"
)

type order struct {
	id   int
	note string
	list []int
}

// faulty serves requests that use an order of one before.
func faulty() http.Handler {
	var mu sync.Mutex
	var last *order
	orders := slab.NewCache(slab.Config[order]{Name: "orders"})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /keep", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		last = arena.New[order](memctx.FromContext(r.Context()).Arena())
	})
	mux.HandleFunc("GET /forget", func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		last = nil // or it is a stale pointer
	})
	mux.HandleFunc("GET /orders/{id}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, last.note)
	})
	mux.HandleFunc("/sum", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, make([]int, last.id))
	})
	mux.HandleFunc("GET /free", func(w http.ResponseWriter, r *http.Request) {
		o := orders.Alloc()
		orders.Free(o)
		orders.Free(o)
	})
	mux.HandleFunc("GET /panic", func(w http.ResponseWriter, r *http.Request) { panic("oops") })
	return mux
}

// reports collects those that there are until the test ends.
func reports(t *testing.T) (take func() []*check.Report) {
	var mu sync.Mutex
	var list []*check.Report
	check.Handle(func(r *check.Report) {
		mu.Lock()
		defer mu.Unlock()
		list = append(list, r)
	})
	t.Cleanup(func() { check.Handle(nil) })
	return func() []*check.Report {
		mu.Lock()
		defer mu.Unlock()
		taken := list
		list = nil
		return taken
	}
}

// A handler that panics for what it read from released memory, faults included, has a
// report with its route, and the panic goes on: the server logs it, and goes on.
func TestExplained(t *testing.T) {
	take := reports(t)
	var logged lines
	s := serveWith(t, faulty(), func(ts *httptest.Server) {
		ts.Config.ErrorLog = log.New(&logged, "", 0)
		ts.Start()
	})
	get(t, s.Client(), s.URL+"/keep")
	for _, c := range []struct{ path, what, serving, logged string }{
		{"/orders/17", "use after release", "GET /orders/{id}: /orders/17", "invalid memory address"},
		{"/sum", "perhaps a use after release", "GET /sum", "makeslice: len out of range"},
		{"/panic", "", "", "oops"},
	} {
		if _, _, err := fetch(s.Client(), s.URL+c.path); !errors.Is(err, io.EOF) {
			t.Errorf("%s: the client got %v, want EOF", c.path, err)
		}
		testkit.Until(t, "the panic is in the log", func() bool { return strings.Contains(logged.String(), c.logged) })
		list := take()
		if c.what == "" {
			if len(list) > 0 {
				t.Errorf("%s: %v", c.path, list)
			}
			continue
		}
		if len(list) == 0 { // or two: the client may try again
			t.Errorf("%s: no report", c.path)
			continue
		}
		r := list[0]
		if r.What != c.what || r.Serving != c.serving || !strings.Contains(r.Now, "explain_test.go") || !strings.Contains(r.Error(), "serving: "+c.serving+"\n") {
			t.Errorf("%s: the report is\n%v", c.path, r)
		}
		if c.path == "/orders/17" && (!strings.Contains(r.Memory, "memhttp_test.order of ") || !strings.Contains(r.Allocated, "explain_test.go")) {
			t.Errorf("%s: the report does not name the memory:\n%v", c.path, r)
		}
	}
	if status, _ := get(t, s.Client(), s.URL+"/forget"); status != http.StatusOK {
		t.Errorf("status %d afterwards", status)
	}
}

// The panic of a mistake that was found at once gets the route as well, and goes on
// as the value that it was. Faults are panics while a handler runs, and not afterwards.
func TestFoundGetsRoute(t *testing.T) {
	if !testkit.InChild(t) {
		text, err := testkit.Child(t, "HAVEN_CHECK=")
		if err != nil || strings.Count(text, "haven: second free") != 1 {
			t.Errorf("%v\n%s", err, text)
		}
		return
	}
	before := debug.SetPanicOnFault(false)
	h := memhttp.Handler(faulty())
	v := testkit.Panic(t, func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/free", nil)) })
	if r, ok := v.(*check.Report); !ok || r.What != "second free" || r.Serving != "GET /free" {
		t.Errorf("the panic is %v", v)
	}
	inside := false
	memhttp.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside = debug.SetPanicOnFault(true)
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	if after := debug.SetPanicOnFault(before); !inside || after {
		t.Errorf("faults are panics: %v in a handler, %v behind one", inside, after)
	}
}
