//go:build haven_check

package check_test

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// A record is what pools are for: what is behind its pointers stays over a Put.
type record struct {
	id    int
	buf   []byte
	lines []string
}

func newRecord() *record { return &record{buf: make([]byte, 0, 100)} }

func resetRecord(r *record) { *r = record{buf: r.buf[:0], lines: r.lines[:0]} }

// newRecords returns a pool. (Its name is one that no test of stale pointers looks for.)
func newRecords() *pool.Pool[record] {
	return pool.New(newRecord, pool.Config[record]{Name: "records", Reset: resetRecord})
}

// Puts of what pools have, or somebody else has.
func TestPuts(t *testing.T) {
	for _, m := range puts {
		t.Run(m.name, func(t *testing.T) {
			meanwhile, _, sites := m.reports()
			m.is(t, meanwhile, sites)
		})
	}
}

var puts = []mistake{
	{"pool: a second Put, of an object that has waited", func(here func(string)) {
		p := newRecords()
		here("allocated")
		x := p.Get()
		here("released")
		p.Put(x)
		p.Trim()
		p.Put(x)
	}, []string{"second put", `Pool "records"`}},
	{"pool: a second Put of a global variable", func(here func(string)) {
		p := new(pool.Pool[record])
		here("released")
		p.Put(&globalRecord)
		p.Put(&globalRecord)
	}, []string{"second put"}},
	{"pool: a Put of what is idle in another pool", func(here func(string)) {
		p, q := newRecords(), pool.New(newRecord, pool.Config[record]{Name: "others"})
		here("allocated")
		x := p.Get()
		here("released")
		p.Put(x)
		q.Put(x)
	}, []string{"second put", `put into Pool "others"`, `record of Pool "records"`}},
	{"pool: a Put of the first part of an object in use", func(here func(string)) {
		p := pool.New[[4]record](nil, pool.Config[[4]record]{Name: "fours"})
		q := newRecords()
		here("allocated")
		x := p.Get()
		q.Put(&x[0])
	}, []string{"put of an interior pointer", `Pool "fours"`, "points 0 bytes"}},
	{"bytes: a second Put by another header", func(here func(string)) {
		b := pool.NewBytes(pool.BytesConfig{Name: "frames", Dirty: true})
		here("allocated")
		p := b.Get(100)
		s := *p
		here("released")
		b.Put(p)
		b.Put(&s)
	}, []string{"second put", `Bytes "frames"`}},
	{"bytes: a Put of a small part of an idle buffer", func(here func(string)) {
		b := pool.NewBytes(pool.BytesConfig{Name: "frames"})
		here("allocated")
		p := b.Get(4000)
		s := (*p)[:10:10]
		here("released")
		b.Put(p)
		b.Put(&s)
	}, []string{"second put", `Bytes "frames"`}},
	{"bytes: a part was put, and then the whole", func(here func(string)) {
		b := pool.NewBytes(pool.BytesConfig{Name: "frames"})
		here("allocated")
		p := b.Get(4000)
		s := (*p)[:1000:1000]
		here("released")
		b.Put(&s)
		b.Put(p)
	}, []string{"second put", `Bytes "frames"`}},
}

// A second Put of an object that is none of Go's heap is found as any is.
func TestForeignSecondPut(t *testing.T) {
	mapped := testkit.Mapped(t, 1<<12)
	defer stale.All()()
	p := pool.New(func() *[64]byte {
		return (*[64]byte)(unsafe.Pointer(&mapped[1<<10]))
	})
	x := p.Get()
	p.Put(x)
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(error).Error(), "second put") {
			t.Errorf("the second Put: %v", v)
		}
	}()
	p.Put(x)
}

var (
	globalRecord  record
	globalRecords pool.Pool[record]
	globalBytes   pool.Bytes
)

// TestCorrectPools makes no mistake, and has no report: objects of pools, their
// users' own, and global variables, which move between goroutines and pools.
func TestCorrectPools(t *testing.T) {
	if !testkit.InChild(t) { // where objects come back to the pools
		testkit.MustChild(t, "HAVEN_STALE=0", "HAVEN_CHECK=")
		testkit.MustChild(t, "HAVEN_STALE=0", "HAVEN_CHECK=poison,stacks,quarantine=8KB")
		testkit.MustChild(t, "HAVEN_STALE=0", "HAVEN_CHECK=:records")
	}
	named := newRecords()
	costed := pool.New(newRecord, pool.Config[record]{Cost: func(r *record) int { return cap(r.buf) }, MaxBytes: 10_000})
	few := pool.New[record](nil, pool.Config[record]{Max: 3})
	pools := []*pool.Pool[record]{named, costed, few, &globalRecords}
	dirty := pool.NewBytes(pool.BytesConfig{Dirty: true})
	unsized := new(pool.Pool[struct{}])
	if testkit.InChild(t) { // it can be put once
		globalRecords.Put(&globalRecord)
	}
	moving := make(chan *record, 100)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			local := pool.NewLocal[record](newRecord, pool.LocalConfig[record]{Reset: resetRecord})
			var held []*record
			for i := range 200 {
				p := pools[(g+i)%len(pools)]
				x := p.Get()
				if p == named && (x.id != 0 || len(x.buf) != 0) {
					t.Errorf("a record that was reset is %+v", *x)
				}
				x.id, x.buf = i, append(x.buf[:0], "text"...)
				x.lines = append(x.lines[:0], string(x.buf))
				select {
				case moving <- x:
				default:
					held = append(held, <-moving, x)
				}
				if i%10 == 0 {
					held = append(held, newRecord(), local.Get())
				}
				for len(held) > 5 {
					y := held[0]
					held = slices.Delete(held, 0, 1)
					pools[i%len(pools)].Put(y)
				}
				y := local.Get()
				if y.id != 0 || len(y.buf) != 0 {
					t.Errorf("an object of a Local is %+v", *y)
				}
				y.id = 1
				local.Put(y)

				for _, b := range []*pool.Bytes{dirty, &globalBytes, nil} {
					buf := b.Get(i*7%3000 + 1)
					if b == &globalBytes && slices.Max(*buf) != 0 {
						t.Error("a buffer is not zero")
					}
					for k := range *buf {
						(*buf)[k] = byte(k)
					}
					if i%3 == 0 {
						part := (*buf)[len(*buf)/2:] // in place of the whole
						buf = &part
					}
					b.Put(buf)
				}
				unsized.Put(unsized.Get())
			}
			for _, x := range held {
				named.Put(x)
			}
		}()
	}
	wg.Wait()
	if err := check.Verify(); err != nil {
		t.Error(err)
	}
	for _, p := range pools {
		p.Trim()
		if s := p.Stats(); s.Idle != 0 || s.Puts != s.Hits+s.Trimmed+s.Dropped() {
			t.Errorf("%+v", s)
		}
	}
}

// What a pool has seen is not kept by the check build: not what was got and lost, nor
// what a pool had that is gone, nor what was dropped.
func TestPoolsLetGo(t *testing.T) {
	var c testkit.Census
	alive := newRecords()
	func() {
		gone := newRecords()
		for range 300 {
			testkit.Enroll(&c, gone.Get())
			testkit.Enroll(&c, alive.Get())
			x := testkit.Enroll(&c, newRecord())
			testkit.Enroll(&c, unsafe.SliceData(x.buf[:1]))
			alive.Put(x)
			gone.Put(testkit.Enroll(&c, newRecord()))
		}
		runtime.KeepAlive(gone)
	}()
	alive.Trim()
	testkit.Eventually(t, "nothing is kept", func() bool { return c.Alive() == 0 })
	runtime.KeepAlive(alive)
}
