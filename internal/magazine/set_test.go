package magazine_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// put installs a magazine with n objects in the cell of the only P.
func put(s *magazine.Set, n int) *magazine.Magazine {
	m := magazine.New(57)
	for _, p := range objects(n) {
		m.Add(p)
	}
	c := cell(s)
	c.Install(m)
	c.Leave()
	return m
}

// walk returns how many magazines s has in cells, and objects in them.
func walk(s *magazine.Set) (mags, objs int) {
	s.Walk(func(m *magazine.Magazine) {
		n, _, _ := m.Peek()
		mags++
		objs += n
	})
	return mags, objs
}

func wantWalk(t *testing.T, s *magazine.Set, mags, objs int) {
	t.Helper()
	if m, o := walk(s); m != mags || o != objs {
		t.Errorf("%d magazines with %d objects are in cells, want %d with %d", m, o, mags, objs)
	}
}

func TestZeroSet(t *testing.T) {
	var s magazine.Set
	if s.Table() != nil || !s.Fits() {
		t.Error("a zero Set has cells")
	}
	s.Retire()
	if list := s.Settle(); len(list) != 0 {
		t.Errorf("Settle returned %v", list)
	}
	if list := s.Reclaim(); len(list) != 0 {
		t.Errorf("Reclaim returned %v", list)
	}
	wantWalk(t, &s, 0, 0)
}

// The cells follow GOMAXPROCS, upwards with Open and both ways with Retire.
func TestOpen(t *testing.T) {
	onOneP(t)
	var s magazine.Set
	if !s.Open() || s.Table() == nil || !s.Fits() {
		t.Error("Open made no cells")
	}
	first := s.Table()
	if s.Open() || s.Table() != first {
		t.Error("Open made cells though there were some")
	}
	m := put(&s, 5)
	narrow := magazine.Width()

	runtime.GOMAXPROCS(3)
	if magazine.Width() <= narrow || s.Fits() || magazine.Pinned && s.Table().Has(2) {
		t.Errorf("cells for 3 Ps, where there was one: %v", s.Fits())
	}
	if !s.Open() || s.Table() == first || !s.Fits() || !s.Table().Has(0) || !s.Table().Has(2) {
		t.Error("Open made no cells for more Ps")
	}
	wantWalk(t, &s, 1, 5) // in the cells of before
	wide := s.Table()

	runtime.GOMAXPROCS(1)
	if s.Open() || s.Table() != wide || s.Fits() {
		t.Error("Open made cells though there are enough")
	}
	put(&s, 7)
	wantWalk(t, &s, 2, 12)
	s.Retire()
	if s.Table() != nil || !s.Fits() || !s.Open() || s.Open() {
		t.Error("Retire left cells, or Open made none")
	}
	wantWalk(t, &s, 2, 12)
	if list := s.Reclaim(); len(list) != 2 || list[0] != m || list[0].Len() != 5 || list[1].Len() != 7 {
		t.Errorf("Reclaim returned %v", list)
	}
	wantWalk(t, &s, 0, 0)
	if list := s.Reclaim(); len(list) != 0 {
		t.Errorf("Reclaim returned %v again", list)
	}
	if tables := s.Retired(); len(tables) != 0 {
		t.Errorf("%d tables are retired still", len(tables))
	}
}

// Settle returns what was retired before its last call, once.
func TestSettle(t *testing.T) {
	onOneP(t)
	var s magazine.Set
	put(&s, 1)
	if list := s.Settle(); len(list) != 0 {
		t.Errorf("Settle returned %v, which is in use", list)
	}
	s.Retire()
	put(&s, 2)
	if list := s.Settle(); len(list) != 0 {
		t.Errorf("Settle returned %v at the first collection", list)
	}
	s.Retire()
	put(&s, 4)
	if list := s.Settle(); len(list) != 1 || list[0].Len() != 1 {
		t.Errorf("Settle returned %v at the second collection, want what was retired first", list)
	}
	wantWalk(t, &s, 2, 6)
	if list := s.Settle(); len(list) != 1 || list[0].Len() != 2 {
		t.Errorf("Settle returned %v at the third collection, want what was retired second", list)
	}
	if list := s.Settle(); len(list) != 0 {
		t.Errorf("Settle returned %v at the fourth collection", list)
	}
	wantWalk(t, &s, 1, 4)
	s.Retire()
	s.Settle()
	if list := s.Reclaim(); len(list) != 1 || list[0].Len() != 4 {
		t.Errorf("Reclaim returned %v of what has settled half", list)
	}
	if list := s.Settle(); len(list) != 0 {
		t.Errorf("Settle returned %v after Reclaim", list)
	}
}

// A table that was emptied gives nothing and takes nothing, whoever looked it up
// before. Without a lock on its cells nobody can be left who did.
func TestEmptiedTable(t *testing.T) {
	onOneP(t)
	var s magazine.Set
	put(&s, 3)
	old := s.Table()
	s.Retire()
	s.Reclaim()
	magazine.Enter()
	c := old.Cell(0)
	gone, canPop, canPush := c.Gone(), c.CanPop(), c.CanPush()
	p := c.PopPrev()
	pushed := c.PushPrev(unsafe.Pointer(new(object)))
	c.Leave()
	if gone == magazine.Pinned || canPop || canPush || p != nil || pushed {
		t.Errorf("gone %v, can pop %v, can push %v, popped %v, pushed %v", gone, canPop, canPush, p, pushed)
	}
}

// What a goroutine puts into a cell of a retired table, in which it was at work
// already, is not lost: whoever takes the magazines waits for it.
func TestReclaimWaits(t *testing.T) {
	twoPs(t)
	n := 200
	if testing.Short() {
		n = 20
	}
	for range n {
		var s magazine.Set
		p := unsafe.Pointer(new(object))
		var inside, retired atomic.Bool
		done := make(chan bool)
		go func() {
			defer close(done)
			s.Open()
			pid := magazine.Enter()
			c := s.Table().Cell(pid)
			c.Install(magazine.New(57))
			inside.Store(true)
			// Not for ever, for a collection that begins now waits for this.
			for i := 0; i < 10_000_000 && !retired.Load(); i++ {
			}
			for range 20_000 { // takes time
				retired.Load()
			}
			c.Push(p)
			c.Leave()
		}()
		for !inside.Load() {
			runtime.Gosched()
		}
		s.Retire()
		retired.Store(true)
		list := s.Reclaim()
		if len(list) != 1 || list[0].Len() != 1 || list[0].Objects()[0] != p {
			t.Fatalf("Reclaim returned %v, want a magazine with an object", list)
		}
		<-done
	}
}

// A token belongs to one goroutine at a time, or lies somewhere in the Set.
type token struct {
	owner atomic.Int64
	_     *token
}

// Many goroutines push and pop while the cells are retired, reclaimed, settled
// and opened anew, and GOMAXPROCS changes: each object has one owner, none is
// lost, and the counts say what was done.
func TestNothingIsLost(t *testing.T) {
	const tokens, goroutines = 2000, 6
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var (
		s      magazine.Set
		mu     sync.Mutex
		depot  []*magazine.Magazine
		pops   uint
		pushes uint
		gets   atomic.Uint64
		puts   atomic.Uint64
		end    atomic.Bool
		wg     sync.WaitGroup
	)
	store := func(list ...*magazine.Magazine) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range list {
			if m != nil {
				a, b := m.Counts()
				pops, pushes = pops+a, pushes+b
				depot = append(depot, m)
			}
		}
	}
	fetch := func(ok func(m *magazine.Magazine) bool) *magazine.Magazine {
		mu.Lock()
		defer mu.Unlock()
		for i, m := range depot {
			if ok(m) {
				depot[i] = depot[len(depot)-1]
				depot = depot[:len(depot)-1]
				return m
			}
		}
		return nil
	}
	enter := func() *magazine.Cell {
		for {
			pid := magazine.Enter()
			if t := s.Table(); t == nil || !t.Has(pid) {
				magazine.Exit()
			} else if c := t.Cell(pid); c.Gone() {
				c.Leave()
			} else {
				return c
			}
			s.Open()
		}
	}
	install := func(m *magazine.Magazine) {
		c := enter()
		out := c.Install(m)
		c.Leave()
		store(out)
	}
	for range tokens / 50 {
		m := magazine.New(57)
		for range 50 {
			m.Add(unsafe.Pointer(new(token)))
		}
		store(m)
	}
	pop := func() *token {
		for {
			c := enter()
			var p unsafe.Pointer
			if c.CanPop() {
				p = c.Pop()
			} else {
				p = c.PopPrev()
			}
			c.Leave()
			if p != nil {
				gets.Add(1)
				return (*token)(p)
			}
			m := fetch(func(m *magazine.Magazine) bool { return m.Len() > 0 })
			if m == nil {
				return nil
			}
			install(m)
		}
	}
	push := func(k *token) {
		puts.Add(1)
		for {
			c := enter()
			ok := c.CanPush()
			if ok {
				c.Push(unsafe.Pointer(k))
			} else {
				ok = c.PushPrev(unsafe.Pointer(k))
			}
			c.Leave()
			if ok {
				return
			}
			m := fetch(func(m *magazine.Magazine) bool { return m.Len() < m.Limit() })
			if m == nil {
				m = magazine.New(57)
			}
			install(m)
		}
	}
	for g := range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			me := int64(g + 1)
			var mine []*token
			for !end.Load() {
				if rand.IntN(2) == 0 {
					if k := pop(); k != nil {
						if !k.owner.CompareAndSwap(0, me) {
							t.Errorf("%d popped what belongs to %d", me, k.owner.Load())
						}
						mine = append(mine, k)
					}
				} else if n := len(mine); n > 0 {
					k := mine[n-1]
					mine = mine[:n-1]
					if !k.owner.CompareAndSwap(me, 0) {
						t.Errorf("%d holds what belongs to %d", me, k.owner.Load())
					}
					push(k)
				}
				if len(mine) > 200 {
					for _, k := range mine {
						k.owner.Store(0)
						push(k)
					}
					mine = nil
				}
			}
			for _, k := range mine {
				k.owner.Store(0)
				push(k)
			}
		}()
	}
	for start := time.Now(); time.Since(start) < 300*time.Millisecond; {
		switch rand.IntN(6) {
		case 0:
			runtime.GOMAXPROCS(1 + rand.IntN(10))
		case 1, 2:
			s.Retire()
		case 3:
			store(s.Reclaim()...)
		case 4:
			// Two calls with a collection between, as each user makes them.
			runtime.GC()
			store(s.Settle()...)
		case 5:
			walk(&s)
		}
	}
	end.Store(true)
	wg.Wait()
	s.Retire()
	store(s.Reclaim()...)
	seen := map[unsafe.Pointer]bool{}
	for _, m := range depot {
		for _, p := range m.Objects() {
			if seen[p] {
				t.Errorf("%v is there twice", p)
			}
			seen[p] = true
		}
	}
	if len(seen) != tokens {
		t.Errorf("%d objects are left of %d", len(seen), tokens)
	}
	if uint64(pops) != gets.Load() || uint64(pushes) != puts.Load() {
		t.Errorf("counted %d pops and %d pushes, want %d and %d", pops, pushes, gets.Load(), puts.Load())
	}
	wantWalk(t, &s, 0, 0)
}

// A Set that is dropped keeps nothing alive.
func TestSetIsCollected(t *testing.T) {
	onOneP(t)
	var census testkit.Census
	for range 10 {
		s := new(magazine.Set)
		m := put(s, 0)
		m.Add(unsafe.Pointer(testkit.Enroll(&census, new(object))))
		s.Retire()
		put(s, 3)
	}
	testkit.CollectGarbage()
	if n := census.Alive(); n != 0 {
		t.Errorf("%d objects live", n)
	}
}
