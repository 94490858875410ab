package slab_test

import (
	"sync"
	"testing"

	"github.com/haven-mem/haven/slab"
)

type record struct {
	next, prev *record
	fields     [6]int
}

// BenchmarkPair is what the fast path costs, beside sync.Pool's. The published
// figures are those of haven bench.
func BenchmarkPair(b *testing.B) {
	b.Run("impl=cache", func(b *testing.B) {
		c := slab.NewCache[record]()
		for range b.N {
			r := c.Alloc()
			r.fields[0]++
			c.Free(r)
		}
	})
	b.Run("impl=syncpool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(record) }}
		for range b.N {
			r := p.Get().(*record)
			r.fields[0]++
			*r = record{}
			p.Put(r)
		}
	})
}

// BenchmarkTransfer hands objects from one goroutine to another.
func BenchmarkTransfer(b *testing.B) {
	run := func(b *testing.B, alloc func() *record, free func(*record)) {
		full, empty := make(chan []*record, 4), make(chan []*record, 4)
		for range 4 {
			empty <- make([]*record, 64)
		}
		done := make(chan bool)
		go func() {
			for s := range full {
				for _, r := range s {
					free(r)
				}
				empty <- s
			}
			close(done)
		}()
		for i := 0; i < b.N; i += 64 {
			s := <-empty
			for j := range s {
				s[j] = alloc()
				s[j].fields[0]++
			}
			full <- s
		}
		close(full)
		<-done
	}
	b.Run("impl=cache", func(b *testing.B) {
		c := slab.NewCache[record]()
		run(b, c.Alloc, c.Free)
	})
	b.Run("impl=syncpool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(record) }}
		run(b, func() *record { return p.Get().(*record) }, func(r *record) { *r = record{}; p.Put(r) })
	})
}
