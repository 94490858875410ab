// Request serves HTTP requests whose working memory comes from a pool of
// arenas. Everything a request needs ends when the handler returns, so it goes
// into one arena; the response's bytes, which leave, are written to the
// connection before that.
package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sort"
	"strconv"
	"strings"

	"github.com/haven-mem/haven/arena"
)

// A line is one position of an order; it has a pointer and a string, like most
// things that a request is made of.
type line struct {
	item  string
	count int
	next  *line
}

// An order is what the handler works with.
type order struct {
	customer string
	lines    *line
	total    int
}

// A shop handles orders like /order?customer=ann&apple=3&pear=1.
type shop struct {
	arenas *arena.Pool
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := s.arenas.Get()
	defer s.arenas.Put(a) // nothing of the arena is used after this

	o, err := parse(a, r.URL.RawQuery)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Write(render(a, o))
}

// parse reads the query into an order in a.
func parse(a *arena.Arena, query string) (*order, error) {
	o := arena.New[order](a)
	for query != "" {
		var field string
		field, query, _ = strings.Cut(query, "&")
		key, value, _ := strings.Cut(field, "=")
		if key == "customer" {
			o.customer = arena.String(a, value)
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%s: %q is not a count", key, value)
		}
		o.lines = arena.NewFrom(a, line{item: arena.String(a, key), count: n, next: o.lines})
		o.total += n
	}
	return o, nil
}

// render returns the response's text, in a.
func render(a *arena.Arena, o *order) []byte {
	items := arena.MakeSlice[string](a, 0, 8)
	for l := o.lines; l != nil; l = l.next {
		items = arena.Push(a, items, l.item)
	}
	sort.Strings(items)
	text := arena.MakeSlice[byte](a, 0, 64)
	text = fmt.Appendf(text, "%d pieces for %s:", o.total, o.customer)
	for _, item := range items {
		text = arena.Push(a, text, ' ')
		text = arena.Append(a, text, []byte(item)...)
	}
	return arena.Push(a, text, '\n')
}

func main() {
	s := &shop{arenas: arena.NewPool(arena.Config{Name: "request", Limit: 1 << 20})}
	for _, url := range []string{
		"/order?customer=ann&apple=3&pear=1",
		"/order?customer=bob&plum=two",
		"/order?customer=eve&fig=2",
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest("GET", url, nil))
		fmt.Print(w.Code, " ", w.Body)
	}
	stats := s.arenas.Stats()
	fmt.Printf("%d requests in %d arena\n", stats.Gets, stats.Misses)
}
