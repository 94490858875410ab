package pool_test

import (
	"sync"
	"testing"

	"github.com/haven-mem/haven/pool"
)

type record struct {
	next, prev *record
	fields     [6]int
}

func (r *record) reset() { *r = record{} }

// BenchmarkPair is what a Get and a Put cost, beside sync.Pool's. The published
// figures are those of haven bench.
func BenchmarkPair(b *testing.B) {
	b.Run("impl=syncpool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(record) }}
		for range b.N {
			r := p.Get().(*record)
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=pool", func(b *testing.B) {
		p := pool.New(func() *record { return new(record) })
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=pool/reset", func(b *testing.B) {
		p := pool.New(nil, pool.Config[record]{Reset: (*record).reset})
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=pool/cost", func(b *testing.B) {
		p := pool.New(nil, pool.Config[record]{Cost: func(*record) int { return 64 }, MaxBytes: 1 << 20})
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=pool/exact", func(b *testing.B) {
		p := pool.New(func() *record { return new(record) }, pool.Config[record]{Max: 2})
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=local", func(b *testing.B) {
		var p pool.Local[record]
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
	b.Run("impl=local/reset", func(b *testing.B) {
		p := pool.NewLocal(nil, pool.LocalConfig[record]{Reset: (*record).reset})
		for range b.N {
			r := p.Get()
			r.fields[0]++
			p.Put(r)
		}
	})
}

// BenchmarkDeep takes many objects and puts them back, so that magazines go to
// the depot and come back.
func BenchmarkDeep(b *testing.B) {
	const n = 1000
	s := make([]*record, n)
	b.Run("impl=syncpool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(record) }}
		for i := 0; i < b.N; i += n {
			for j := range s {
				s[j] = p.Get().(*record)
			}
			for j := range s {
				p.Put(s[j])
			}
		}
	})
	b.Run("impl=pool", func(b *testing.B) {
		p := pool.New[record](nil)
		for i := 0; i < b.N; i += n {
			for j := range s {
				s[j] = p.Get()
			}
			for j := range s {
				p.Put(s[j])
			}
		}
	})
	b.Run("impl=local", func(b *testing.B) {
		p := pool.NewLocal(nil, pool.LocalConfig[record]{Max: -1})
		for i := 0; i < b.N; i += n {
			for j := range s {
				s[j] = p.Get()
			}
			for j := range s {
				p.Put(s[j])
			}
		}
	})
}

// BenchmarkBytes is a Get and a Put of buffers.
func BenchmarkBytes(b *testing.B) {
	for _, size := range []int{100, 1 << 10, 4 << 10, 64 << 10} {
		name := map[int]string{100: "100", 1 << 10: "1k", 4 << 10: "4k", 64 << 10: "64k"}[size]
		b.Run("impl=syncpool/clear/n="+name, func(b *testing.B) {
			p := sync.Pool{New: func() any { s := make([]byte, size); return &s }}
			for range b.N {
				s := p.Get().(*[]byte)
				(*s)[0]++
				clear(*s)
				p.Put(s)
			}
		})
		b.Run("impl=syncpool/n="+name, func(b *testing.B) {
			p := sync.Pool{New: func() any { s := make([]byte, size); return &s }}
			for range b.N {
				s := p.Get().(*[]byte)
				(*s)[0]++
				p.Put(s)
			}
		})
		b.Run("impl=bytes/n="+name, func(b *testing.B) {
			var p pool.Bytes
			for range b.N {
				s := p.Get(size)
				(*s)[0]++
				p.Put(s)
			}
		})
		b.Run("impl=bytes/dirty/n="+name, func(b *testing.B) {
			p := pool.NewBytes(pool.BytesConfig{Dirty: true})
			for range b.N {
				s := p.Get(size)
				(*s)[0]++
				p.Put(s)
			}
		})
	}
}

// BenchmarkTransfer hands objects from one goroutine to another.
func BenchmarkTransfer(b *testing.B) {
	run := func(b *testing.B, get func() *record, put func(*record)) {
		full, empty := make(chan []*record, 4), make(chan []*record, 4)
		for range 4 {
			empty <- make([]*record, 64)
		}
		done := make(chan bool)
		go func() {
			for s := range full {
				for _, r := range s {
					put(r)
				}
				empty <- s
			}
			close(done)
		}()
		for i := 0; i < b.N; i += 64 {
			s := <-empty
			for j := range s {
				s[j] = get()
				s[j].fields[0]++
			}
			full <- s
		}
		close(full)
		<-done
	}
	b.Run("impl=pool", func(b *testing.B) {
		p := pool.New[record](nil)
		run(b, p.Get, p.Put)
	})
	b.Run("impl=syncpool", func(b *testing.B) {
		p := sync.Pool{New: func() any { return new(record) }}
		run(b, func() *record { return p.Get().(*record) }, func(r *record) { p.Put(r) })
	})
}
