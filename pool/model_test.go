package pool_test

import (
	"bytes"
	"runtime"
	"testing"
	"time"

	"github.com/haven-mem/haven/pool"
)

// What an object is in a model.
const (
	out  = iota + 1 // a user has it
	in              // it was put, and may have been dropped since
	lost            // its Reset did not return
)

// A program is a row of operations, each with as many operands as it needs.
type program []byte

func (p *program) next() int {
	if len(*p) == 0 {
		return 0
	}
	b := (*p)[0]
	*p = (*p)[1:]
	return int(b)
}

// A poolModel runs programs on a pool and knows what became of each object. It
// cannot know which one a Get returns, only which ones it may.
type poolModel struct {
	t     testing.TB
	name  string
	p     *pool.Pool[object]
	clock clock

	state  map[*object]int
	left   map[*object]int // the id that its last user, and Reset, left
	out    []*object
	gets   int
	puts   int
	lost   int // objects whose Reset did not return
	resets bool
	gaveUp bool // callbacks panic
}

var poolConfigs = []struct {
	name   string
	resets bool
	conf   pool.Config[object]
}{
	{"plain", false, pool.Config[object]{}},
	{"exact", false, pool.Config[object]{Max: 2}},
	{"Max", true, pool.Config[object]{Max: 100, Floor: 7}},
	{"costed", false, pool.Config[object]{MaxBytes: 3000, Cost: costOf}},
	{"all", true, pool.Config[object]{MaxBytes: 2000, Max: 150, Floor: 3, Idle: time.Hour, Cost: costOf}},
}

// costOf is what an object counts as: some are large, some nothing.
func costOf(x *object) int { return x.id % 97 * (x.id % 7) }

func newPoolModel(t testing.TB, config int) *poolModel {
	c := poolConfigs[config]
	m := &poolModel{t: t, name: c.name, state: map[*object]int{}, left: map[*object]int{}, resets: c.resets}
	conf := c.conf
	if c.resets {
		conf.Reset = func(x *object) {
			if m.gaveUp {
				panic("gave up")
			}
			x.next = nil
			x.id++
		}
	}
	m.p = pool.New(func() *object {
		if m.gaveUp {
			panic("gave up")
		}
		x := new(object)
		m.state[x] = in
		return x
	}, conf)
	m.p.Budget().SetClock(m.clock.after)
	m.p.Budget().Unwatch()
	return m
}

// tried reports whether f returned. It may panic because a callback does.
func (m *poolModel) tried(f func()) bool {
	v := panicOf(f)
	if v != nil && (v != "gave up" || !m.gaveUp) {
		m.t.Fatalf("%s: panic: %v", m.name, v)
	}
	return v == nil
}

func (m *poolModel) get() {
	var x *object
	if !m.tried(func() { x = m.p.Get() }) {
		return
	}
	m.gets++
	if m.state[x] != in || m.left[x] != x.id || m.resets && x.next != nil {
		m.t.Fatalf("%s: got %+v in state %d, which was left as %d", m.name, x, m.state[x], m.left[x])
	}
	m.state[x] = out
	m.out = append(m.out, x)
}

func (m *poolModel) put(i, change int) {
	x := m.out[i]
	m.out[i] = m.out[len(m.out)-1]
	m.out = m.out[:len(m.out)-1]
	x.id += change
	x.next = x
	m.state[x] = in
	m.left[x] = x.id
	if m.resets {
		m.left[x]++
	}
	if m.tried(func() { m.p.Put(x) }) {
		m.puts++
	} else {
		m.state[x] = lost
		m.lost++
	}
}

func (m *poolModel) run(prog program) {
	for len(prog) > 0 {
		switch prog.next() % 16 {
		case 0, 1, 2:
			m.get()
		case 3, 4:
			for range prog.next() % 130 {
				m.get()
			}
		case 5, 6, 7:
			if i := prog.next(); len(m.out) > 0 {
				m.put(i%len(m.out), prog.next())
			}
		case 8, 9:
			for range min(len(m.out), prog.next()%130) {
				m.put(len(m.out)-1, prog.next()%5)
			}
		case 10:
			m.p.Budget().AfterGC(prog.next()%4 == 0)
		case 11:
			m.clock.tick(m.t)
		case 12:
			m.p.Trim()
		case 13:
			m.p.Budget().Settle()
		case 14:
			m.gaveUp = !m.gaveUp
		case 15:
			runtime.GOMAXPROCS(1 + prog.next()%5)
		}
		m.check()
	}
	m.end()
}

// check compares the numbers.
func (m *poolModel) check() {
	s := checkStats(m.t, m.p.Stats())
	if s.Hits+s.Misses != uint64(m.gets) || s.Puts != uint64(m.puts) || s.InUse != len(m.out)+m.lost {
		m.t.Fatalf("%s: %d gets, %d puts, %d in use: %+v", m.name, m.gets, m.puts, len(m.out), s)
	}
	checkCharged(m.t, m.p.Budget(), s)
	if s.Max == 0 && s.DroppedFull != 0 || s.MaxBytes == 0 && s.DroppedBytes != 0 || s.DroppedPanic != 0 || s.DroppedTwice+s.DroppedSize != 0 {
		m.t.Fatalf("%s: dropped for no reason: %+v", m.name, s)
	}
}

// end takes all there is out of the pool: as much as its numbers say, and nothing
// that somebody has.
func (m *poolModel) end() {
	m.gaveUp = false
	idle := m.p.Stats().Idle
	got := drain(m.t, m.p)
	if len(got) != idle {
		m.t.Fatalf("%s: %d objects idle, %d came back", m.name, idle, len(got))
	}
	for x, n := range got {
		if n != 1 || m.state[x] != in || m.left[x] != x.id {
			m.t.Fatalf("%s: object %+v came back %d times, state %d", m.name, x, n, m.state[x])
		}
	}
	m.p.Trim()
	if n, bytes := m.p.Budget().Charged(); n != 0 || bytes != 0 {
		m.t.Fatalf("%s: empty, but %d objects and %d bytes charged", m.name, n, bytes)
	}
}

// A bytesModel does for a Bytes what a poolModel does for a Pool.
type bytesModel struct {
	t     testing.TB
	name  string
	b     *pool.Bytes
	clock clock

	state map[*[]byte]int
	out   []*[]byte
	gets  int
	puts  int
}

var bytesConfigs = []struct {
	name string
	conf pool.BytesConfig
}{
	{"plain", pool.BytesConfig{}},
	{"tight", pool.BytesConfig{MaxBytes: 20_000}},
	{"exact", pool.BytesConfig{Max: 3, Floor: 2}},
	{"all", pool.BytesConfig{MaxBytes: 300_000, Max: 200, Floor: 3, Idle: time.Hour}},
}

func newBytesModel(t testing.TB, config int) *bytesModel {
	c := bytesConfigs[config]
	m := &bytesModel{t: t, name: c.name, b: pool.NewBytes(c.conf), state: map[*[]byte]int{}}
	m.b.Budget().SetClock(m.clock.after)
	m.b.Budget().Unwatch()
	return m
}

func (m *bytesModel) get(n int) {
	p := m.b.Get(n)
	m.gets++
	if s := m.state[p]; s != 0 && s != in {
		m.t.Fatalf("%s: Get(%d) returned a buffer that somebody has", m.name, n)
	}
	if len(*p) != n || cap(*p) != pool.ClassSize(pool.ClassFor(n)) {
		m.t.Fatalf("%s: Get(%d): length %d, capacity %d", m.name, n, len(*p), cap(*p))
	}
	all := (*p)[:cap(*p)]
	if len(bytes.TrimLeft(all, "\x00")) != 0 {
		m.t.Fatalf("%s: Get(%d): not zero", m.name, n)
	}
	for i := range all {
		all[i] = byte(i) | 1
	}
	m.state[p] = out
	m.out = append(m.out, p)
}

func (m *bytesModel) put(i int) {
	p := m.out[i]
	m.out[i] = m.out[len(m.out)-1]
	m.out = m.out[:len(m.out)-1]
	for i, c := range (*p)[:cap(*p)] {
		if c != byte(i)|1 {
			m.t.Fatalf("%s: a buffer of %d bytes was written to", m.name, cap(*p))
		}
	}
	m.state[p] = in
	m.puts++
	m.b.Put(p)
}

func (m *bytesModel) run(prog program) {
	for len(prog) > 0 {
		switch prog.next() % 14 {
		case 0, 1, 2:
			m.get(prog.next())
		case 3:
			m.get(prog.next() * prog.next())
		case 4:
			for range prog.next() % 100 {
				m.get(100)
			}
		case 5, 6, 7:
			if i := prog.next(); len(m.out) > 0 {
				m.put(i % len(m.out))
			}
		case 8:
			for range min(len(m.out), prog.next()%130) {
				m.put(len(m.out) - 1)
			}
		case 9: // a slice from elsewhere, or one that its user has grown or cut
			s := bytes.Repeat([]byte{1}, prog.next()*prog.next()%3000)
			s = s[:len(s)/2]
			m.puts++
			m.state[&s] = in
			m.b.Put(&s)
		case 10:
			m.b.Budget().AfterGC(prog.next()%4 == 0)
		case 11:
			m.clock.tick(m.t)
		case 12:
			m.b.Budget().Settle()
		case 13:
			before := m.b.Stats()
			n := m.b.Trim()
			if after := checkStats(m.t, m.b.Stats()); n != before.Bytes-after.Bytes || after.Idle > after.Floor {
				m.t.Fatalf("%s: Trim returned %d, %+v, before: %+v", m.name, n, after, before)
			}
		}
		s := checkStats(m.t, m.b.Stats())
		if s.Hits+s.Misses != uint64(m.gets) || s.Puts != uint64(m.puts) || s.DroppedTwice+s.DroppedPanic != 0 {
			m.t.Fatalf("%s: %d gets, %d puts: %+v", m.name, m.gets, m.puts, s)
		}
		checkCharged(m.t, m.b.Budget(), s)
	}
	for len(m.out) > 0 {
		m.put(0)
	}
}
