//go:build haven_check

package check_test

import (
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

type node struct {
	next *node
	name string
	any  any
	n    [3]int64
	tail byte
}

// A mistake calls here in the line before memory is allocated or released: its report
// has to name both lines. Package misuse has what is found, of which memory; these tests
// have what reports say, and which operations find what Verify would find.
type mistake struct {
	name string
	make func(here func(what string))
	want []string // of the report
}

// reports makes a mistake, and returns what was reported meanwhile, and by Verify.
func (m *mistake) reports() (meanwhile, verified []*check.Report, sites []string) {
	check.Verify() // what others left
	check.Handle(func(r *check.Report) { meanwhile = append(meanwhile, r) })
	defer check.Handle(nil)
	r, v := explained(func() {
		m.make(func(what string) {
			_, file, line, _ := runtime.Caller(1)
			sites = append(sites, what+" at\n", filepath.Base(file)+":"+strconv.Itoa(line+1))
		})
	})
	if r != nil {
		meanwhile = append(meanwhile, r)
	} else if v != nil {
		panic(v)
	}
	return meanwhile, reportsOf(check.Verify()), sites
}

// is compares a report with what is wanted of it.
func (m *mistake) is(t *testing.T, got []*check.Report, sites []string) {
	t.Helper()
	if len(got) != 1 {
		t.Fatalf("%d reports: %v", len(got), got)
	}
	text := got[0].Error()
	for _, want := range m.want {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for i := 0; i < len(sites); i += 2 {
		_, section, _ := strings.Cut(text, sites[i])
		section = nextStack.Split(section, 2)[0]
		if !strings.Contains(section, sites[i+1]) {
			t.Errorf("the report does not say %q %s:\n%s", sites[i], sites[i+1], text)
		}
	}
}

var nextStack = regexp.MustCompile(`\n(released|found) at\n`)

func TestReports(t *testing.T) {
	for _, m := range reported {
		t.Run(m.name, func(t *testing.T) {
			if magazine.Race && strings.HasPrefix(m.want[0], "use of a copy") {
				t.Skip("not with the race detector")
			}
			meanwhile, verified, sites := m.reports()
			m.is(t, append(meanwhile, verified...), sites)
		})
	}
}

var reported = []mistake{
	{"arena: a field written after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Config{Name: "requests"})
		here("allocated")
		p := arena.New[node](a)
		here("released")
		a.Reset()
		p.n[1] = 7
	}, []string{"write after release", `.n[1]`, `arena "requests"`, "check_test.node"}},
	{"arena: a large slice written after Reset", func(here func(string)) {
		a := arena.NewArena()
		arena.New[node](a)
		here("allocated")
		s := arena.MakeSlice[node](a, 5000, 5000)
		here("released")
		a.Reset()
		s[4999].n[2] = 1
	}, []string{"write after release", "element 4999", ".n[2]"}},
	{"arena: a value of NewOf written after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Config{Name: "decoder"})
		arena.NewOf(a, reflect.TypeFor[node]())
		here("allocated")
		p := arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node)
		here("released")
		a.Reset()
		p.n[1] = 7
	}, []string{"write after release", ".n[1] of element 1", `arena "decoder"`}},
	{"arena: a pointer in a value of NewOf followed after Release", func(here func(string)) {
		a := arena.NewArena(arena.Config{Name: "decoder"})
		m := a.Mark()
		for range 100 {
			arena.NewOf(a, reflect.TypeFor[node]())
		}
		here("allocated")
		p := arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node)
		p.next = p
		here("released")
		a.Release(m)
		p.next.n[0]++
	}, []string{"use after release", `arena "decoder"`}},
	{"lane: written after Reset", func(here func(string)) {
		var l arena.Lane[node]
		here("allocated")
		p := l.New()
		here("released")
		l.Reset()
		p.n[0] = 1
	}, []string{"write after release", "a Lane"}},
	{"context: written after Delete", func(here func(string)) {
		mc := memctx.New("query")
		here("allocated")
		p := arena.New[node](mc.Arena())
		here("released")
		mc.Delete()
		p.n[0] = 1
	}, []string{"write after release", `"query"`}},
	{"cache: a field written after Free", func(here func(string)) {
		c := slab.NewCache[node](slab.Config[node]{Name: "orders"})
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		p.n[2] = 1
	}, []string{"write after release", ".n[2]", `cache "orders"`}},
	{"local: a field written after Free", func(here func(string)) {
		var l slab.Local[node]
		here("allocated")
		p := l.Alloc()
		here("released")
		l.Free(p)
		p.n[2] = 1
	}, []string{"write after release", ".n[2]", "a Local", "check_test.node"}},
	{"table: a field written after Remove", func(here func(string)) {
		table := slab.NewTable[node](slab.TableConfig{Name: "sessions"})
		here("allocated")
		h, p := table.Insert(node{})
		here("released")
		table.Remove(h)
		p.n[0] = 1
	}, []string{"write after release", ".n[0]", `table "sessions"`}},
	{"pool: a field written after Put", func(here func(string)) {
		p := newRecords()
		here("allocated")
		x := p.Get()
		here("released")
		p.Put(x)
		x.id = 7
	}, []string{"write after release", ".id", `Pool "records"`, "check_test.record"}},
	{"local pool: a field written after Put", func(here func(string)) {
		l := pool.NewLocal[record](newRecord, pool.LocalConfig[record]{Name: "worker"})
		here("allocated")
		x := l.Get()
		here("released")
		l.Put(x)
		x.id++
	}, []string{"write after release", ".id", `Local "worker"`}},
	{"bytes: a byte written after Put", func(here func(string)) {
		b := pool.NewBytes(pool.BytesConfig{Name: "frames"})
		here("allocated")
		p := b.Get(3000)
		s := *p
		here("released")
		b.Put(p)
		s[2999] = 7
	}, []string{"write after release", "[2999]", `Bytes "frames"`}},
	{"bytes: the header written after Put", func(here func(string)) {
		var b pool.Bytes
		here("allocated")
		p := b.Get(100)
		here("released")
		b.Put(p)
		*p = nil
	}, []string{"write after release", "[]uint8"}},
	{"bytes: a byte read through the header after Put", func(here func(string)) {
		var b pool.Bytes
		here("allocated")
		p := b.Get(100)
		here("released")
		b.Put(p)
		sink = *unsafe.SliceData(*p)
	}, []string{"use after release"}},
	{"bump: a field written after Reset", func(here func(string)) {
		var a bump.Arena
		bump.New[[3]int](&a)
		here("allocated")
		p := bump.New[node](&a)
		bump.New[int](&a)
		here("released")
		a.Reset()
		p.n[1] = 7
	}, []string{"write after release", ".n[1]", "a check_test.node of a bump arena"}},
	{"bump: an element written after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[node](&a, 700, 700)
		here("released")
		a.Reset()
		s[650].tail = 7
	}, []string{"write after release", ".tail of element 650", "700 × check_test.node of a bump arena"}},
	{"bump: memory without a type written after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := a.Alloc(40, 8)
		here("released")
		a.Reset()
		poke(p, 11, 7)
	}, []string{"write after release", "byte 11 of 40", "40 bytes of a bump arena"}},
	{"bump: a grown slice written after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.Append(&a, nil, node{})
		s = bump.Append(&a, s, node{}, node{})
		p := &s[2]
		here("released")
		a.Reset()
		p.n[1] = 7
	}, []string{"write after release", ".n[1] of element 2"}},
	{"arena: a pointer followed after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Config{Name: "requests"})
		here("allocated")
		p := arena.New[node](a)
		p.next = arena.New[node](a)
		here("released")
		a.Reset()
		p.next.n[0]++
	}, []string{"use after release", `arena "requests"`}},
	{"bump: a string read after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[string](&a, 3, 3)
		s[1] = bump.String(&a, "text")
		here("released")
		a.Reset()
		runtime.KeepAlive(strings.Clone(s[1][:3]))
	}, []string{"use after release", "3 × string of a bump arena"}},
	{"cache: a second Free", func(here func(string)) {
		c := slab.NewCache[node](slab.Config[node]{Name: "orders"})
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		c.Free(p)
	}, []string{"second free", `cache "orders"`}},
	{"cache: a pointer of another cache", func(here func(string)) {
		c, d := slab.NewCache[node](slab.Config[node]{Name: "orders"}), slab.NewCache[node](slab.Config[node]{Name: "trades"})
		d.Alloc()
		here("allocated")
		p := c.Alloc()
		d.Free(p)
	}, []string{"foreign", `cache "orders"`, `cache "trades"`}},
	{"local: a pointer into an object", func(here func(string)) {
		var l slab.Local[[2]int64]
		here("allocated")
		p := l.Alloc()
		l.Alloc()
		l.Free((*[2]int64)(unsafe.Pointer(&p[1])))
	}, []string{"interior pointer", "points 8 bytes"}},
	{"pool: a Put of a part of an object in use", func(here func(string)) {
		p := pool.New[[4]record](nil, pool.Config[[4]record]{Name: "fours"})
		q := newRecords()
		here("allocated")
		x := p.Get()
		q.Put(&x[1])
	}, []string{"put of an interior pointer", `Pool "fours"`, "points 56 bytes"}},
	{"bump: an overrun of what grew in place", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[uint16](&a, 5, 5)
		s = bump.Append(&a, s, 1, 2, 3, 4, 5, 6) // more than twice as many: no spare capacity
		poke(unsafe.Pointer(&s[0]), 22, 7)
	}, []string{"overrun", "1 byte behind 22 bytes", "11 × uint16"}},
	{"bump: an overrun of a string", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.String(&a, "text")
		bump.String(&a, "more")
		poke(unsafe.Pointer(unsafe.StringData(s)), 4, 7)
	}, []string{"overrun", "1 byte behind 4 bytes"}},
	{"lane: a copy of an arena's is reset", func(func(string)) {
		l := arena.LaneOf[node](arena.NewArena(arena.Config{Name: "decoder"}))
		l.MakeSlice(1, 1)
		copyOf(l).Reset()
	}, []string{"use of a copy", `arena "decoder"`, "found at"}},
}

// Who is in New while another goroutine comes is told of both. It is held there by
// another mistake's report.
func TestOverlap(t *testing.T) {
	if magazine.Race {
		t.Skip("not with the race detector")
	}
	a := arena.NewArena(arena.Config{Name: "shared"})
	arena.New[node](a)
	m := a.Mark()
	p := arena.New[node](a)
	a.Release(m)
	p.n[0] = 1
	var got []*check.Report
	check.Handle(func(r *check.Report) {
		if got = append(got, r); r.Other == "" {
			done := make(chan bool)
			go func() { defer close(done); arena.MakeSlice[int](a, 5, 5) }()
			<-done
		}
	})
	defer check.Handle(nil)
	arena.New[node](a)
	if len(got) != 2 {
		t.Fatalf("%d reports: %v", len(got), got)
	}
	for _, want := range []string{"use by two goroutines at once", `arena "shared" is for one at a time`, "found at", "meanwhile another goroutine at"} {
		if !strings.Contains(got[1].Error(), want) {
			t.Errorf("no %q in\n%v", want, got[1])
		}
	}
}

// Red zones are looked at to the byte, whatever an allocation's size and alignment.
func TestRedZones(t *testing.T) {
	a := new(bump.Arena)
	for i, size := range []uintptr{1, 3, 8, 24, 1000} {
		for _, off := range []int{-1, -8, int(size), int(size) + 7} {
			what, align := "overrun: ", uintptr(1)<<(2*i)
			if off < 0 {
				what = "underrun: "
			}
			a.Alloc(3, 1)
			p := a.Alloc(size, align)
			a.Alloc(3, 1)
			poke(p, off, 0)
			if err := check.Verify(); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("a byte at %d of %d bytes aligned to %d: %v", off, size, align, err)
			}
		}
	}
}

// poke writes a byte that many bytes from p.
func poke(p unsafe.Pointer, off int, v byte) { *(*byte)(unsafe.Add(p, off)) = v }

var sink byte

func copyOf[T any](p *T) *T {
	c := *p
	return &c
}
