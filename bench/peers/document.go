package main

import (
	"math"
	"math/rand"

	"github.com/haven-mem/haven/bench/workload"
)

// An object is a part of a document.
type object interface{ header() *head }

// A head begins each of them.
type head struct {
	up object // made before this one
	n  int
}

func (h *head) header() *head { return h }

type (
	text struct {
		head
		s string
	}
	attr struct {
		head
		key, value string
		bits       uint64
	}
	element struct {
		head
		name     string
		children []object
	}
)

const words = "the quick brown fox jumps over the lazy dog"

// word returns a word for object i. It is static memory, which any arena may point to.
func word(i int) string { return words[i%20 : i%20+i%7] }

// Each element has the last few objects as children.
const fanout = 5

// sum reads a document.
func sum(last object) int {
	n := 0
	for o := last; o != nil; o = o.header().up {
		n += o.header().n
	}
	return n
}

// A peer makes documents of so many objects.
type peer interface {
	document(n int) object // valid until end
	end()
}

// runs is an instance that makes documents of these sizes with one peer.
type runs struct {
	peer  peer
	sizes []int
	last  object
}

func (r *runs) Round(round *workload.Round) {
	for _, n := range r.sizes {
		r.last = r.peer.document(n)
		if sum(r.last) != n*(n-1)/2 {
			panic("a document is damaged")
		}
		r.last = nil
		r.peer.end()
		round.Ops += int64(n)
	}
}

func (r *runs) Close() { r.peer = nil }

// cases are the sizes of documents that there are.
func cases(cfg workload.Config) []workload.Case {
	documents := 4_000
	if cfg.Quick {
		documents = 400
	}
	var list []workload.Case
	for _, c := range []struct {
		name string
		size func(rng *rand.Rand, k int) int
	}{
		{"sizes=equal", func(*rand.Rand, int) int { return 300 }},
		{"sizes=pareto", func(rng *rand.Rand, _ int) int {
			return int(min(20*math.Pow(1-rng.Float64(), -1/0.7), largest))
		}},
		{"sizes=spike", func(rng *rand.Rand, k int) int {
			if k%35 == 17 {
				return 16_000
			}
			return 100 + rng.Intn(201)
		}},
	} {
		rng := rand.New(rand.NewSource(2))
		sizes := make([]int, documents)
		for k := range sizes {
			sizes[k] = c.size(rng, k)
		}
		row := workload.Case{Name: c.name}
		for _, p := range peers {
			row.Variants = append(row.Variants, workload.Variant{
				Name:  p.name,
				Setup: func() (workload.Instance, error) { return &runs{peer: p.make(), sizes: sizes}, nil },
			})
		}
		list = append(list, row)
	}
	return list
}

// largest is the size of the largest document in objects.
const largest = 100_000
