package workload

// Workload transfer passes objects between two goroutines: one allocates, the
// other frees. What is freed on one P is wanted on another, so nothing that is
// kept for a P alone helps. An object is the 64 bytes of workload slabpair.
//
// The goroutines pass slices of pointers through one channel and get the empty
// slices back through another. With so many pointers in a slice the channels
// take a few nanoseconds for each object, the same for all variants.

func init() {
	Register(Workload{
		Name:  "transfer",
		Doc:   "one goroutine allocates objects of 64 bytes, another frees them",
		Unit:  "object",
		Cases: transferCases,
	})
}

const (
	transferObjects = 2_000_000 // in a round
	transferQuick   = 400_000
	transferBatch   = 250 // pointers in a slice; divides the numbers above
	transferBatches = 8   // slices
)

func transferCases(cfg Config) []Case {
	n := transferObjects
	if cfg.Quick {
		n = transferQuick
	}
	return []Case{{
		Variants: variantsOf([]string{heapNew, syncPool, channelList, slabCache}, map[string][]Target{
			slabCache: {fasterThan(syncPool, 1)},
		}, func(name string) (Instance, error) { return newTransfer(name, n), nil }),
	}}
}

func newTransfer(name string, n int) Instance {
	objects := newSource[pairObject](name, transferBatch*transferBatches)
	full, empty := make(chan []*pairObject, transferBatches), make(chan []*pairObject, transferBatches)
	for range transferBatches {
		empty <- make([]*pairObject, transferBatch)
	}
	batches := n / transferBatch
	produce := func() {
		for b := range batches {
			s := <-empty
			for k := range s {
				p := objects.alloc()
				p.use(b*transferBatch + k)
				s[k] = p
			}
			full <- s
		}
	}
	consume := func() (sum uint64) {
		for range batches {
			s := <-full
			for k, p := range s {
				sum = add(sum, uint64(p.id)<<32+uint64(p.count))
				objects.free(p)
				s[k] = nil
			}
			empty <- s
		}
		return sum
	}
	return &task{
		ops: int64(n),
		run: func(*Round) uint64 {
			return together(2, func(worker int) uint64 {
				if worker == 0 {
					return consume()
				}
				produce()
				return 0
			})
		},
	}
}
