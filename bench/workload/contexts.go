package workload

import (
	"io"
	"net/http"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// Workload contexts times what comes around the work: memory that begins and ends, as a warm
// arena of a Pool, as a context below another, and as one by itself; and a handler of net/http,
// called without a server, bare and with the memory that package memhttp gives each request.
// Each makes one small object.

func init() {
	Register(Workload{
		Name:  "contexts",
		Doc:   "the beginning and the end of memory for one object, and of a request",
		Unit:  "piece",
		Cases: contextsCases,
	})
}

const contextsTimes = 20_000 // in a round

type contextsObject struct {
	next  *contextsObject
	value uint64
}

func contextsCases(Config) []Case {
	v := func(name string, begin func() func(i uint64) uint64, targets ...Target) Variant {
		return Variant{
			Name: name,
			Setup: func() (Instance, error) {
				piece := begin()
				return &task{ops: contextsTimes, run: func(*Round) uint64 {
					sum := uint64(0)
					for i := range uint64(contextsTimes) {
						sum = add(sum, piece(i))
					}
					return sum
				}}, nil
			},
			Targets: targets,
		}
	}
	use := func(a *arena.Arena, i uint64) uint64 {
		p := arena.New[contextsObject](a)
		p.value = i
		return p.value
	}
	end := func(mc *memctx.Context, i uint64) uint64 {
		defer mc.Delete()
		return use(mc.Arena(), i)
	}
	none := Target{Metric: MetricAllocs, Bound: AtMost, Value: 0.05} // those of the samples that detectors take
	return []Case{{
		Name: "of=memory",
		Variants: []Variant{
			v("pool", func() func(uint64) uint64 {
				p := arena.NewPool()
				return func(i uint64) uint64 {
					a := p.Get()
					defer p.Put(a)
					return use(a, i)
				}
			}),
			v("child", func() func(uint64) uint64 {
				above := memctx.New("contexts")
				return func(i uint64) uint64 { return end(above.Child("child"), i) }
			}, none),
			v("root", func() func(uint64) uint64 {
				return func(i uint64) uint64 { return end(memctx.New("root"), i) }
			}, none),
		},
	}, {
		Name: "of=request",
		Variants: []Variant{
			v("bare", func() func(uint64) uint64 { return contextsRequest(func(h http.Handler) http.Handler { return h }) }),
			v("memhttp", func() func(uint64) uint64 {
				return contextsRequest(func(h http.Handler) http.Handler {
					return memhttp.Handler(h, memhttp.Config{Parent: memctx.New("contexts")})
				})
			}, Target{Metric: MetricAllocs, Bound: AtMost, Value: 1.05}),
		},
	}}
}

// contextsRequest returns what has a handler that makes an object serve a request.
func contextsRequest(wrap func(http.Handler) http.Handler) func(uint64) uint64 {
	var i, got uint64
	h := wrap(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		p := arena.New[contextsObject](memctx.FromContext(r.Context()).Arena())
		p.value = i
		got = p.value
	}))
	r, err := http.NewRequest("GET", "/contexts", nil)
	if err != nil {
		panic(err)
	}
	return func(n uint64) uint64 {
		i = n
		h.ServeHTTP(contextsAnswer{}, r)
		return got
	}
}

// contextsAnswer is a ResponseWriter with what net/http's has for HTTP/1, that does nothing.
type contextsAnswer struct{ http.Hijacker }

func (contextsAnswer) Header() http.Header                 { return nil }
func (contextsAnswer) Write(p []byte) (int, error)         { return len(p), nil }
func (contextsAnswer) WriteHeader(int)                     {}
func (contextsAnswer) Flush()                              {}
func (contextsAnswer) ReadFrom(r io.Reader) (int64, error) { return io.Copy(io.Discard, r) }
