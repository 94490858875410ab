package havenprometheus

import "github.com/haven-mem/haven/memctx"

// NewCollectorOf returns a collector of what take returns, instead of the process.
func NewCollectorOf(take func() *memctx.Snapshot) *Collector {
	c := NewCollector()
	c.reader.Take = take
	return c
}
