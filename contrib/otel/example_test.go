//go:build !haven_check

// The check build watches every release, and the pool of those has a line of its own.

package havenotel_test

import (
	"context"
	"fmt"
	"log"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	havenotel "github.com/haven-mem/haven/contrib/otel"
	"github.com/haven-mem/haven/slab"
)

// A program has its numbers collected with its other metrics. Here a reader by
// hand stands for the exporter.
func ExampleRegister() {
	nodes := slab.NewCache[[48]byte](slab.Config[[48]byte]{Name: "nodes", Capacity: 1000})
	defer nodes.Free(nodes.Alloc())

	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(context.Background())

	registration, err := havenotel.Register(provider.Meter("github.com/haven-mem/haven"))
	if err != nil {
		log.Fatal(err)
	}
	defer registration.Unregister()

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		log.Fatal(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if m.Name == "haven.cache.capacity" {
			for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
				name, _ := p.Attributes.Value("haven.cache.name")
				fmt.Println(name.AsString(), p.Value, m.Unit)
			}
		}
	}
	// Output: nodes 1000 {object}
}
