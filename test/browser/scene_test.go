package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A scene is a program worth looking at: a server with connections and requests,
// an index, caches, pools, limits, a lease, a leak. It is at rest, so that what a
// page shows of it can be compared with what the objects say.
type scene struct {
	server, index *memctx.Context
	conns         []*memctx.Context
	held          *memctx.Context
	sessions      *slab.Cache[session]
	timers        *slab.Cache[timer]
	encoders      *pool.Pool[encoder]
	frames        *pool.Bytes
}

type session struct {
	User, Token string
	Seen        time.Time
	Next        *session
}

type timer struct {
	At   int64
	Next *timer
}

type encoder struct{ buf [4096]byte }

// A node is what the contexts hold.
type node struct {
	Left, Right *node
	Name        string
	Weight      [4]int
}

// use allocates nodes with so many bytes.
func use(mc *memctx.Context, bytes int) {
	arena.MakeSlice[node](mc.Arena(), 0, bytes/64)
}

var (
	sceneOnce sync.Once
	theScene  *scene
)

// newScene returns the scene, which is the same for all tests, since caches and
// pools are listed for the whole process.
func newScene(t *testing.T) *scene {
	t.Helper()
	sceneOnce.Do(func() { theScene = makeScene() })
	return theScene
}

func makeScene() *scene {
	s := &scene{
		server:   memctx.New("server", memctx.Config{Limit: 48 << 20}),
		index:    memctx.New("index", memctx.Config{Limit: 64 << 20}),
		sessions: slab.NewCache(slab.Config[session]{Name: "sessions", Capacity: 10_000}),
		timers:   slab.NewCache(slab.Config[timer]{Name: "timers"}),
		encoders: pool.New(func() *encoder { return new(encoder) }, pool.Config[encoder]{Name: "encoders", Max: 64, Floor: 4}),
		frames:   pool.NewBytes(pool.BytesConfig{Name: "frames", MaxBytes: 1 << 20}),
	}
	use(s.server, 200<<10)
	for i := range 40 {
		conn := s.server.Child("conn", memctx.Config{Ident: fmt.Sprint(i), Limit: 2 << 20})
		use(conn, 16<<10)
		s.conns = append(s.conns, conn)
		for j := range 1 + i%3 {
			request := conn.Child("request", memctx.Config{Ident: fmt.Sprintf("GET /orders/%d", 100*i+j)})
			use(request, (30+(i*37+j*53)%260)<<10)
			if i%4 == 1 {
				query := request.Child("query")
				use(query.Child("hash join"), (40+i*5)<<10)
				use(query.Child("sort"), (20+i*3)<<10)
			}
		}
	}
	use(s.conns[18].Child("request", memctx.Config{Ident: "POST /import"}), 1560<<10)

	// A handler that outlived its timeout has a lease on its memory.
	s.held = s.conns[5].Child("request", memctx.Config{Ident: "GET /report"})
	use(s.held, 400<<10)
	s.held.Retain()
	s.held.Delete()

	for i := range 8 {
		shard := s.index.Child("shard", memctx.Config{Ident: fmt.Sprint(i)})
		use(shard.Child("postings"), (900+i*170)<<10)
		use(shard.Child("terms"), (250+i*31)<<10)
	}
	jobs := memctx.New("jobs")
	use(jobs.Child("compaction"), 700<<10)
	keep = append(keep, s, jobs)

	for range 20 { // so that there are warm arenas, and requests to have got one
		for _, conn := range s.conns[:8] {
			r := conn.Child("request", memctx.Config{Ident: "warm"})
			use(r, 60<<10)
			r.Delete()
		}
	}

	live := make([]*session, 0, 9000)
	for i := range 9300 {
		x := s.sessions.Alloc()
		if i%30 == 0 {
			s.sessions.Free(x)
		} else {
			live = append(live, x)
		}
	}
	keep = append(keep, live)
	for range 4000 {
		s.timers.Free(s.timers.Alloc())
	}
	var tick *timer
	for range 700 {
		x := s.timers.Alloc()
		x.Next = tick
		tick = x
	}
	keep = append(keep, tick)
	for range 50 {
		var got []*encoder
		for range 12 {
			got = append(got, s.encoders.Get())
		}
		for _, e := range got {
			s.encoders.Put(e)
		}
	}
	for i := range 3000 {
		a, b := s.frames.Get(900), s.frames.Get(20_000+i%3*16_000)
		s.frames.Put(a)
		s.frames.Put(b)
	}
	keep = append(keep, s.frames.Get(1500))
	odd := make([]byte, 10) // of no size class
	s.frames.Put(&odd)
	end := stale.All() // the garbage collector gets some, to be watched
	for range 3 {
		s.encoders.Put(s.encoders.Get())
		s.frames.Put(s.frames.Get(900))
	}
	end()

	check.SampleStacks(1)
	for range 3 {
		dropBatch()
	}
	check.SampleStacks(128)
	for len(check.Leaks()) == 0 {
		runtime.GC()
		runtime.Gosched()
	}
	return s
}

var keep []any

// dropBatch forgets a context: a leak.
//
//go:noinline
func dropBatch() {
	use(memctx.New("batch"), 120<<10)
}

// theServer serves all tests, so that no tab sees it go away.
var theServer = sync.OnceValue(func() *httptest.Server {
	mux := http.NewServeMux()
	debugpage.Register(mux)
	return httptest.NewServer(mux)
})

// serve serves the debug page as a program would, and returns its address.
func serve() string { return theServer().URL + debugpage.Path }
