package debugpage

import (
	"time"

	"github.com/haven-mem/haven/memctx"
)

// Format is what Stats.Format says. It changes when a field of [Stats] is removed
// or gets another meaning, and stays when one is added.
const Format = "haven/1"

// Stats is what stats.json has: the fields of a [memctx.Snapshot] and, beside
// them, what the page shows of the process and of the last minutes. Field names
// are those of Go. Bytes are bytes, durations are nanoseconds, times are in
// RFC 3339 but where a field says otherwise, and a fraction is from 0 to 1.
// There is no NaN and no infinity, and no list of Stats is null.
//
// To tell this page from another's JSON, look at Format before anything else.
type Stats struct {
	Format  string // the constant Format
	Process Process
	Totals  Totals
	memctx.Snapshot
	Unlisted      int // contexts in trees of which not even the root is listed
	UnlistedBytes int
	Limits        []Limit // what has a bound, at most 100, the fullest in front
	MoreLimits    int     // that are not listed
	History       History
	Took          time.Duration // to collect all this, which tells pollers how far apart to ask
}

// Totals are sums over everything there is, contexts that are not listed
// included.
type Totals struct {
	Contexts     int
	ContextBytes int    // in chunks of contexts
	WarmBytes    int    // in chunks of warm arenas that wait for the next context
	CacheBytes   int    // in all slabs of the caches
	IdleBytes    int    // what the idle objects of pools count as
	Leaks        uint64 // how often the leak finder found something
}

// A Limit is what has a bound, and how much of it is used. Contexts of a group are one,
// with the figures of the fullest.
type Limit struct {
	Kind     string // "process", "context", "cache" or "pool", whose idle objects are meant
	Name     string // of contexts the path
	Unit     string // "bytes" or "objects"
	Used     int64
	Limit    int64
	Reserve  int64   // of a context: what it has set aside in the limits above it
	Siblings int     // in the group; 0: there is none
	Members  []Limit `json:",omitempty"` // of the group: the 10 that are fullest, in this order
}

// Process has figures of the Go runtime, from runtime/metrics.
type Process struct {
	Program     string // the last element of os.Args[0]
	PID         int
	Go          string        // version
	OS          string        // GOOS
	Arch        string        // GOARCH
	Uptime      time.Duration // since this package was initialised
	Procs       int           // GOMAXPROCS
	Goroutines  int
	Heap        uint64  // bytes of objects, dead ones that are not swept included
	HeapGoal    uint64  // bytes at which the next collection is to end
	Mapped      uint64  // bytes taken from the system and not given back: what Go adds to the resident set at most
	MemoryLimit uint64  // GOMEMLIMIT; 0: none
	GCCycles    uint64  // collections that are over
	GCCPU       float64 // fraction of the CPU time that Go could use since the start, as of the latest collection
}

// History has samples of the last minutes: up to 150, two seconds apart, or more
// where taking one is costly.
type History struct {
	Interval time.Duration // from the latest sample to the next; 0: there is none
	Times    []int64       // of the samples, in milliseconds since 1970, the oldest first
	Series   []Series      // the process' first, in the order of the constants Series…, then those of names
}

// A Series is one figure over time. Its values belong to the latest Times: a
// series that began late has fewer.
type Series struct {
	Name   string // one of the constants Series…, or the name of contexts
	OfName bool   // Name is one of contexts, and the values are the bytes of their arenas
	Unit   string // "bytes", "count" or "fraction"
	Values []float64
}

// The series that are always there.
const (
	SeriesContextBytes = "context bytes"
	SeriesContexts     = "contexts"
	SeriesCacheBytes   = "cache bytes"
	SeriesIdleBytes    = "idle bytes of pools"
	SeriesHeap         = "heap"
	SeriesGCCPU        = "GC CPU" // fraction between the two latest collections
)
