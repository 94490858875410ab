package havenprometheus

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/haven-mem/haven/contrib/internal/metrics"
)

// A Collector collects the numbers of a process. Make one with [NewCollector]. It
// may be used by any number of goroutines: scrapes at the same time take turns.
type Collector struct {
	reader metrics.Reader
	descs  map[*metrics.Metric]desc
}

// A desc is a metric in Prometheus' terms.
type desc struct {
	*prometheus.Desc
	prometheus.ValueType
}

// NewCollector returns a collector to register, once in a registry. It reads
// nothing until the first scrape.
//
// A scrape walks all memory contexts and locks each cache and pool for a
// moment. It costs some microseconds for each name, and half a microsecond and a
// kilobyte, which is garbage afterwards, for each live context.
func NewCollector() *Collector {
	c := &Collector{descs: make(map[*metrics.Metric]desc)}
	for _, m := range metrics.Metrics() {
		name, kind := "haven_"+strings.ReplaceAll(m.Name, ".", "_"), prometheus.GaugeValue
		if m.Kind == metrics.Counter {
			name, kind = name+"_total", prometheus.CounterValue
		}
		c.descs[m] = desc{prometheus.NewDesc(name, m.Help, m.Labels, nil), kind}
	}
	return c
}

// Describe sends the descriptions of all metrics there may be, so that a registry
// refuses a second collector, and metrics of others with the same names.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d.Desc
	}
}

// Collect sends the numbers of the moment.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	for _, v := range c.reader.Read() {
		d := c.descs[v.Metric]
		ch <- prometheus.MustNewConstMetric(d.Desc, d.ValueType, float64(v.Number), v.Labels...)
	}
}
