package slab_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// A parcel is what programs allocate. Built is what Init leaves, and count
// survives where Clear leaves it.
type parcel struct {
	text  *string // the only reference to it
	built bool
	key   int
	count int
	_     [200]byte // so that a program of some length has several slabs
}

// A setup is a cache, and what its objects are when they are handed out.
type setup struct {
	name     string
	conf     slab.Config[parcel]
	capacity int
	built    bool // by Init
	kept     bool // by Reset: count
}

func setups() []setup {
	init := func(p *parcel) {
		if *p != (parcel{}) {
			panic(fmt.Sprintf("Init is given %+v", *p))
		}
		p.built = true
	}
	reset := func(p *parcel) { p.text, p.key = nil, 0 }
	return []setup{
		{name: "plain"},
		{name: "capacity", conf: slab.Config[parcel]{Capacity: 90}, capacity: 90},
		{name: "Init", conf: slab.Config[parcel]{Init: init}, built: true},
		{name: "Reset", conf: slab.Config[parcel]{Reset: reset}, kept: true},
		{name: "all", conf: slab.Config[parcel]{Init: init, Reset: reset, Capacity: 300, Name: "fuzz"}, capacity: 300, built: true, kept: true},
	}
}

// The model of a cache is a list of the objects that are in use, and how many
// more are reserved.
type cacheModel struct {
	t    testing.TB
	s    setup
	c    *slab.Cache[parcel]
	held []*parcel
	in   map[*parcel]int // what each holds
	n    int

	r        *slab.Reservation[parcel]
	reserved int
}

// enter takes in what was handed out.
func (m *cacheModel) enter(ps ...*parcel) {
	m.t.Helper()
	for _, p := range ps {
		if _, twice := m.in[p]; twice {
			m.t.Fatalf("%s: %p was handed out twice", m.s.name, p)
		}
		if p.text != nil || p.key != 0 || p.built != m.s.built || !m.s.kept && p.count != 0 {
			m.t.Fatalf("%s: was handed out as %+v", m.s.name, *p)
		}
		m.n++
		text := fmt.Sprint("parcel ", m.n)
		p.key, p.text = m.n, &text
		p.count++
		m.in[p] = m.n
		m.held = append(m.held, p)
	}
}

// leave takes out n objects, from number i on, which hold what was stored.
func (m *cacheModel) leave(i, n int) []*parcel {
	m.t.Helper()
	n = min(n, len(m.held))
	list := make([]*parcel, 0, n)
	for range n {
		i %= len(m.held)
		p := m.held[i]
		if x := m.in[p]; p.key != x || *p.text != fmt.Sprint("parcel ", x) {
			m.t.Fatalf("%s: %p holds %+v, want number %d", m.s.name, p, *p, x)
		}
		m.held[i] = m.held[len(m.held)-1]
		m.held = m.held[:len(m.held)-1]
		delete(m.in, p)
		list = append(list, p)
	}
	return list
}

// may checks what came of asking for n objects.
func (m *cacheModel) may(n int, err error) bool {
	m.t.Helper()
	full := m.s.capacity > 0 && len(m.held)+m.reserved+n > m.s.capacity
	if full != errors.Is(err, slab.ErrExhausted) || full != (err != nil) {
		m.t.Fatalf("%s: %d more with %d in use and %d reserved: %v", m.s.name, n, len(m.held), m.reserved, err)
	}
	return err == nil
}

// run runs a program: an operation and an operand from each two bytes.
func (m *cacheModel) run(program []byte) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	elsewhere := func(f func()) { // on another goroutine, so perhaps another P
		done := make(chan bool)
		go func() {
			f()
			close(done)
		}()
		<-done
	}
	for ; len(program) >= 2; program = program[2:] {
		x := int(program[1])
		switch program[0] % 20 {
		case 0, 1, 2, 3:
			if p, err := m.c.TryAlloc(); m.may(1, err) {
				m.enter(p)
			}
		case 4:
			for range x % 80 {
				if m.s.capacity > 0 && len(m.held)+m.reserved >= m.s.capacity {
					err, _ := testkit.Panic(m.t, func() { m.c.Alloc() }).(error)
					m.may(1, err)
					break
				}
				m.enter(m.c.Alloc())
			}
		case 5, 6, 7, 8:
			for _, p := range m.leave(x, 1) {
				m.c.Free(p)
			}
		case 9:
			for _, p := range m.leave(x, x%80) {
				m.c.Free(p)
			}
		case 10, 11:
			batch := make([]*parcel, x)
			if m.may(x, m.c.AllocBatch(batch)) {
				m.enter(batch...)
			}
		case 12:
			m.c.FreeBatch(m.leave(x, x))
		case 13:
			batch := m.leave(x, x/3)
			elsewhere(func() { m.c.FreeBatch(batch) })
		case 14:
			elsewhere(func() {
				if p, err := m.c.TryAlloc(); m.may(1, err) {
					m.enter(p)
				}
			})
		case 15:
			if m.r != nil {
				m.r.Close()
			}
			m.reserved = 0
			if r, err := m.c.Reserve(x); m.may(x, err) {
				m.r, m.reserved = r, x
			}
		case 16:
			for range x % 8 {
				if m.reserved > 0 {
					m.reserved--
					m.enter(m.r.Take())
				}
			}
			if m.r != nil && m.r.Len() != m.reserved {
				m.t.Fatalf("%s: %d objects can be taken, want %d", m.s.name, m.r.Len(), m.reserved)
			}
		case 17:
			runtime.GOMAXPROCS(1 + x%8)
		case 18:
			if x%4 == 0 {
				runtime.GC()
			}
		case 19:
			before := m.c.Stats().Bytes
			if got := m.c.Trim(); got < 0 || got > before {
				m.t.Fatalf("%s: Trim gave %d of %d bytes", m.s.name, got, before)
			}
		}
		if s := m.c.Stats(); s.InUse != len(m.held)+m.reserved || x%16 == 0 {
			if s = atRest(m.t, m.c); s.InUse != len(m.held)+m.reserved {
				m.t.Fatalf("%s: %d in use, %d reserved, but %+v", m.s.name, len(m.held), m.reserved, s)
			}
		}
	}
	if m.r != nil {
		m.r.Close()
	}
	m.c.FreeBatch(m.leave(0, len(m.held)))
	m.c.Trim()
	if s := atRest(m.t, m.c); s.InUse != 0 || s.Objects != 0 {
		m.t.Fatalf("%s: in the end %+v", m.s.name, s)
	}
}

func runCacheProgram(t testing.TB, program []byte) {
	for _, s := range setups() {
		m := &cacheModel{t: t, s: s, c: slab.NewCache[parcel](s.conf), in: map[*parcel]int{}}
		m.run(program)
	}
}

// randomCacheProgram returns a program of n operations.
func randomCacheProgram(n int) []byte {
	program := make([]byte, 2*n)
	for i := range program {
		program[i] = byte(rand.Uint32())
	}
	return program
}

func FuzzCache(f *testing.F) {
	f.Add([]byte{0, 0, 5, 0, 19, 0})
	f.Add([]byte{10, 255, 12, 255, 10, 255, 12, 100, 19, 0, 10, 90, 18, 0, 18, 0, 18, 0, 0, 0})
	f.Add([]byte{17, 0, 10, 200, 17, 7, 13, 200, 14, 0, 17, 3, 13, 250, 14, 0, 18, 0, 18, 4, 18, 8, 9, 79})
	f.Add([]byte{15, 80, 16, 7, 4, 79, 16, 7, 15, 10, 16, 7, 16, 7, 15, 0, 4, 79})
	for range 4 {
		f.Add(randomCacheProgram(100))
	}
	f.Fuzz(runCacheProgram2)
}

func runCacheProgram2(t *testing.T, program []byte) {
	runCacheProgram(t, program[:min(len(program), 1000)])
}

// Random programs, each time others.
func TestCacheRandomPrograms(t *testing.T) {
	n := 10
	if testing.Short() || magazine.Race {
		n = 2
	}
	for range n {
		program := randomCacheProgram(200)
		t.Run("", func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("program %v", program)
				}
			}()
			runCacheProgram(t, program)
		})
	}
}
