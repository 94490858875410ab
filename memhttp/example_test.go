package memhttp_test

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// A server whose requests have memory of their own, at most 16 MiB each, and
// 512 MiB all together.
func Example() {
	server := memctx.New("server", memctx.Config{Limit: 512 << 20})
	srv := &http.Server{}
	srv.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		words := arena.Append(mc.Arena(), nil, "hello,", arena.String(mc.Arena(), r.URL.Query().Get("name")))
		fmt.Fprintln(w, words)
	})
	memhttp.Wrap(srv, memhttp.Config{Parent: server, RequestLimit: 16 << 20})

	// From here on it is a server like any other.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go srv.Serve(listener)
	defer srv.Close()
	res, err := http.Get("http://" + listener.Addr().String() + "/greet?name=gopher")
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s", answer)
	// Output: [hello, gopher]
}

// Part of a server's routes have memory contexts. Those of one route are told from
// those of others by its pattern.
func ExampleHandler() {
	search := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, memctx.FromContext(r.Context()).Path())
	})
	mux := http.NewServeMux()
	mux.Handle("GET /search", memhttp.Handler(search, memhttp.Config{RequestLimit: 1 << 20}))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/search?q=arena", nil))
	fmt.Println(w.Body)
	// Output: http/GET /search[/search]
}

// A goroutine that goes on after the answer takes a lease.
func ExampleHandler_lease() {
	logged := make(chan string)
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		line := arena.String(mc.Arena(), "GET "+r.URL.Path)
		release := mc.Retain() // before the goroutine starts, not in it
		go func() {
			defer release()
			logged <- arena.Clone(line) // which leaves the request's memory
		}()
		io.WriteString(w, "done")
	}))
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/report", nil))
	fmt.Println(<-logged)
	// Output: GET /report
}

// Too large a request is answered with 413, without a word in the handler. A handler
// that wants to answer by itself uses what returns an error.
func ExampleConfig_requestLimit() {
	h := memhttp.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := memctx.FromContext(r.Context()).Arena()
		if _, err := arena.TryMakeSlice[byte](a, 1<<20, 1<<20); errors.Is(err, arena.ErrLimit) {
			fmt.Println("no MiB left")
		}
		arena.MakeSlice[byte](a, 1<<20, 1<<20) // panics
	}), memhttp.Config{RequestLimit: 64 << 10})
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Body)
	// Output:
	// no MiB left
	// 413 Request Entity Too Large: memory limit
}
