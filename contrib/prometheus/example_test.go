package havenprometheus_test

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	havenprometheus "github.com/haven-mem/haven/contrib/prometheus"
	"github.com/haven-mem/haven/slab"
)

// A program serves what Prometheus scrapes.
func Example() {
	nodes := slab.NewCache[[48]byte](slab.Config[[48]byte]{Name: "nodes"})
	n := nodes.Alloc()
	defer nodes.Free(n)

	registry := prometheus.NewRegistry()
	registry.MustRegister(havenprometheus.NewCollector())
	server := httptest.NewServer(promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	defer server.Close()

	answer, err := http.Get(server.URL)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	for line := range strings.Lines(string(body)) {
		if strings.HasPrefix(line, `haven_cache_objects{name="nodes",state="in_use"}`) {
			fmt.Print(line)
		}
	}
	// Output: haven_cache_objects{name="nodes",state="in_use"} 1
}
