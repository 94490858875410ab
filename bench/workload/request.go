package workload

import (
	"fmt"
	"slices"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
)

// Workload request serves requests: each takes a message apart into 80 objects
// of ten types, with strings copied from the message and slices that grow,
// reads what it made once, and drops it. Objects point to each other and to
// routes, which live on the heap as long as the program does.
//
// The second case does so with a large heap alive, and records the latency of
// each request: a collection that marks a gigabyte slows the requests that come
// meanwhile. Its processes take up to twice as much each, so they run one after
// the other.

func init() {
	Register(Workload{
		Name:  "request",
		Doc:   "requests of 80 objects of ten types, strings and slices, one arena for each",
		Unit:  "request",
		Cases: requestCases,
	})
}

const (
	requestUnits     = 10_000 // requests in a round
	requestLiveUnits = 40_000 // the same with a large heap alive
	requestQuick     = 2_000

	requestLiveBytes      = 1 << 30
	requestLiveBytesQuick = 128 << 20
)

// Numbers of objects in a request: 80 in all.
const (
	reqHeaders = 12
	reqParams  = 6
	reqQueries = 3 // with two plans each
	reqRows    = 10
	reqCells   = 3  // in each row
	reqSpans   = 10 // and a request, a user and a session
)

// Names that programs have as constants.
var (
	reqHeaderNames = [reqHeaders]string{
		"Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Cache-Control", "Content-Length",
		"Content-Type", "Cookie", "Host", "Origin", "User-Agent", "X-Request-Id",
	}
	reqParamNames = [reqParams]string{"page", "sort", "order", "filter", "fields", "limit"}
	reqSpanNames  = [reqSpans]string{
		"serve", "route", "session", "user", "query", "plan", "fetch", "convert", "render", "log",
	}
)

// requestRoutes are kept alive by this variable alone, as references from bump
// arenas need.
var requestRoutes []*reqRoute

func makeRoutes() []*reqRoute {
	var routes []*reqRoute
	for i := range 16 {
		table := fmt.Sprintf("table%02d", i)
		routes = append(routes, &reqRoute{
			pattern: "/v1/" + table + "/{id}",
			table:   table,
			columns: []string{table + ".id", table + ".name", table + ".value"},
		})
	}
	return routes
}

// requestWire is the message that all requests are cut from.
var requestWire = func() []byte {
	var b []byte
	for i := range 64 {
		b = fmt.Appendf(b, "/v1/table%02d/%d?page=%d&sort=name text/html;q=0.%d value-%d\n", i&15, i*7919, i, i&7, i*i)
	}
	return b
}()

var requestStatus = []byte("HTTP/1.1 200 OK\r\n\r\n")

// requestNew makes request i from a message.
//
//gen:lanes requestLanes
func requestNew(wire []byte, i int) *reqRequest {
	wire = wire[i&255:]
	route := requestRoutes[i&15]
	r := new(reqRequest)
	r.method = "GET"
	r.path = string(wire[:20])
	r.route = route

	for k := reqHeaders - 1; k >= 0; k-- {
		h := new(reqHeader)
		h.name = reqHeaderNames[k]
		h.value = string(wire[k*24 : k*24+8+k])
		h.next = r.headers
		r.headers = h
	}
	for k := range reqParams {
		p := new(reqParam)
		p.key = reqParamNames[k]
		p.value = string(wire[k*32 : k*32+10])
		p.number = i + k
		p.next = r.params
		r.params = p
	}

	u := new(reqUser)
	u.id = i
	u.name = string(wire[100:112])
	u.email = string(wire[112:135])
	u.roles = append(u.roles, "reader")
	u.roles = append(u.roles, "writer")
	s := new(reqSession)
	s.token = string(wire[200:232])
	s.user = u
	s.created, s.expires = int64(i), int64(i+3600)
	s.route = route
	u.session = s
	r.user = u

	requestQueriesNew(r, i)
	requestRowsNew(r, wire, i)
	requestTraceNew(r, i)

	r.body = append(r.body, requestStatus...)
	for k := range r.rows {
		r.body = append(r.body, wire[k*40:k*40+30]...)
	}
	r.status = 200
	return r
}

// requestQueriesNew makes the queries of request i.
//
//gen:lanes requestLanes
func requestQueriesNew(r *reqRequest, i int) {
	for k := range reqQueries {
		q := new(reqQuery)
		q.table = r.route.table
		q.columns = r.route.columns
		q.args = append(q.args, i)
		q.args = append(q.args, k)
		scan := new(reqPlan)
		scan.cost = float64(k)
		scan.query = q
		scan.index = &r.route.columns[0]
		sort := new(reqPlan)
		sort.cost = float64(k) + 1
		sort.outer = scan
		sort.query = q
		q.plan = sort
		q.next = r.queries
		r.queries = q
	}
}

// requestRowsNew makes the rows that the queries of request i found.
//
//gen:lanes requestLanes
func requestRowsNew(r *reqRequest, wire []byte, i int) {
	for k := range reqRows {
		row := new(reqRow)
		row.id = i + k
		row.owner = r.user
		for j := range reqCells {
			c := new(reqCell)
			c.column = r.route.columns[j]
			if j == 1 { // of the columns, one is text
				c.text = string(wire[k*40 : k*40+12+k])
			}
			c.number = j
			c.row = row
			row.cells = append(row.cells, c)
		}
		r.rows = append(r.rows, row)
	}
}

// requestTraceNew makes the spans of request i, each inside the one before.
//
//gen:lanes requestLanes
func requestTraceNew(r *reqRequest, i int) {
	for k := range reqSpans {
		s := new(reqSpan)
		s.name = reqSpanNames[k]
		s.parent = r.trace
		s.start, s.end = int64(i), int64(i+k)
		if k&3 == 0 {
			s.attributes = append(s.attributes, r.method)
			s.attributes = append(s.attributes, r.path)
		}
		r.trace = s
	}
}

func requestCases(cfg Config) []Case {
	units, liveUnits, live := requestUnits, requestLiveUnits, requestLiveBytes
	if cfg.Quick {
		units, liveUnits, live = requestQuick, requestQuick, requestLiveBytesQuick
	}
	return []Case{
		{
			Name: "live=0",
			Variants: variants(func() (*program[*reqRequest, requestLanes], error) {
				return requestProgram(units, 0), nil
			}, map[string][]Target{
				arenaFresh: {faster(0.9), atMost(MetricAllocs, 20)},
				arenaPool:  {faster(4), noAllocs()},
				lanePool:   {faster(4), noAllocs()},
				arenaEarn:  {{Metric: MetricTime, Against: arenaPool, Bound: AtMost, Value: 1.02}},
				arenaNever: {faster(1.5)},
			}, append(slices.Clone(allVariants), lanePool, arenaEarn, arenaNever)...),
		},
		{
			Name:       "live=" + megabytes(live),
			Doc:        "with a heap of small objects alive",
			Sequential: true,
			SinglePass: true,
			Variants: variants(func() (*program[*reqRequest, requestLanes], error) {
				return requestProgram(liveUnits, live), nil
			}, map[string][]Target{
				arenaPool: {noAllocs(), notAbove(MetricP999)},
			}, heapNew, arenaFresh, arenaPool),
		},
	}
}

// megabytes returns bytes as a word, such as "128MB" or "1GB".
func megabytes(bytes int) string {
	if bytes >= 1<<30 {
		return fmt.Sprintf("%dGB", bytes>>30)
	}
	return fmt.Sprintf("%dMB", bytes>>20)
}

// requestProgram serves some requests a round, with live bytes of other
// objects on the heap.
func requestProgram(units, live int) *program[*reqRequest, requestLanes] {
	requestRoutes = makeRoutes()
	if live > 0 {
		liveHeap = makeLiveHeap(live)
	}
	wire := requestWire
	return &program[*reqRequest, requestLanes]{
		units: units,
		ops:   int64(units),
		timed: live > 0,
		heap:  func(i int) *reqRequest { return requestNew(wire, i) },
		arena: func(mem *arena.Arena, i int) *reqRequest { return requestArena(mem, wire, i) },
		lanes: newRequestLanes,
		lane:  func(lanes requestLanes, i int) *reqRequest { return requestLane(&lanes, wire, i) },
		bump:  func(mem *bump.Arena, i int) *reqRequest { return requestBump(mem, wire, i) },
		use:   (*reqRequest).read,
		check: (*reqRequest).checksum,
		close: func() { liveHeap = nil },
	}
}
