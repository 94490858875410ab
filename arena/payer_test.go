package arena_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/testkit"
)

// A wallet is a Payer with a limit.
type wallet struct {
	t             testing.TB
	limit         int
	bytes, chunks int
	refused       int
	asked         func() // called in Charge and Room
}

func (w *wallet) Charge(bytes, chunks int) bool {
	if w.asked != nil {
		w.asked()
	}
	if bytes < 0 || chunks < 1 {
		w.t.Errorf("charged %d bytes in %d chunks", bytes, chunks)
	}
	if bytes > w.limit-w.bytes {
		w.refused++
		return false
	}
	w.bytes += bytes
	w.chunks += chunks
	return true
}

func (w *wallet) Credit(bytes, chunks int) {
	w.bytes -= bytes
	w.chunks -= chunks
	if bytes < 0 || chunks < 0 || bytes > 0 && chunks == 0 || w.bytes < 0 || w.chunks < 0 {
		w.t.Errorf("credited %d bytes in %d chunks, now %d in %d", bytes, chunks, w.bytes, w.chunks)
	}
}

func (w *wallet) Room() int {
	if w.asked != nil {
		w.asked()
	}
	return w.limit - w.bytes
}

func (w *wallet) Owner() string { return "server/paid" }

// errBroke is what a wallet refuses with.
type errBroke struct{ requested int }

func (e errBroke) Error() string { return "broke" }

func (w *wallet) Refusal(requested int) error { return errBroke{requested} }

// check fails the test unless the wallet pays for what the arena has.
func (w *wallet) check(a *arena.Arena) {
	w.t.Helper()
	if s := checkStats(w.t, a); w.bytes != s.Reserved || w.chunks != s.Chunks {
		w.t.Fatalf("paid for %d bytes in %d chunks\n%v", w.bytes, w.chunks, s)
	}
}

func paidArena(t testing.TB, limit int, conf ...arena.Config) (*arena.Arena, *wallet) {
	a, w := arena.NewArena(conf...), &wallet{t: t, limit: limit}
	account.Attach(a, w, nil)
	return a, w
}

// Whatever an arena does, each chunk is paid for while it has it.
func TestPayerPaysForEachChunk(t *testing.T) {
	type none struct{}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 3))
		limit := 1000 + rng.IntN(100_000)
		var conf arena.Config
		if seed%3 == 0 {
			conf.Retain = rng.IntN(3000)
			conf.MaxChunk = 1 + rng.IntN(5000)
		}
		if seed%4 == 0 {
			conf.Limit = limit / 2
		}
		a, w := paidArena(t, limit, conf)
		var marks []arena.Mark
		for range 150 {
			var err error
			switch n := rng.IntN(600); rng.IntN(16) {
			case 0, 1:
				_, err = arena.TryMakeSlice[byte](a, n*n/50, n*n/50)
			case 2:
				_, err = arena.TryMakeSlice[*int](a, n, n)
			case 3:
				_, err = arena.TryMakeSlice[none](a, n+1, n+1)
			case 4, 5:
				for range n {
					if _, err = arena.TryNew[[3]*int](a); err != nil {
						break
					}
				}
			case 6:
				func() {
					defer func() {
						if r := recover(); r != nil {
							err = r.(error)
						}
					}()
					for range n / 10 {
						arena.NewOf(a, reflect.TypeFor[[40]int]())
						arena.NewOf(a, reflect.TypeFor[none]())
						arena.String(a, make([]byte, n))
					}
				}()
			case 7:
				marks = append(marks, a.Mark())
			case 8, 9:
				if k := len(marks) - 1; k >= 0 {
					a.Release(marks[k])
					marks = marks[:k]
				}
			case 10, 11:
				a.Reset()
				marks = nil
			case 12:
				account.Leave(a)
				marks = nil
			case 13:
				a.Trim(n * 10)
			case 14: // another pays
				next := &wallet{t: t, limit: limit}
				if a.Stats().InUse > 0 {
					next.limit = math.MaxInt // what is in use cannot go
				}
				account.Attach(a, next, nil)
				if w.bytes != 0 || w.chunks != 0 {
					t.Fatalf("who paid before still pays for %d bytes in %d chunks", w.bytes, w.chunks)
				}
				next.limit = max(limit, next.bytes)
				w = next
			case 15:
				account.Attach(a, nil, nil)
				if w.bytes != 0 || w.chunks != 0 {
					t.Fatalf("who paid before still pays for %d bytes in %d chunks", w.bytes, w.chunks)
				}
				w.limit = max(limit, a.Stats().Reserved)
				account.Attach(a, w, nil)
			}
			if err != nil && !errors.Is(err, arena.ErrLimit) && !errors.As(err, new(errBroke)) {
				t.Fatal(err)
			}
			w.check(a)
			if w.bytes > w.limit {
				t.Fatalf("%d bytes below a limit of %d", w.bytes, w.limit)
			}
		}
		account.Attach(a, nil, nil)
		if w.bytes != 0 || w.chunks != 0 {
			t.Fatalf("%d bytes in %d chunks are paid for at the end", w.bytes, w.chunks)
		}
	}
}

// A refusal is the payer's error, and leaves everything as it was, but for idle
// chunks that were let go. The arena's own limit has its own.
func TestPayerRefuses(t *testing.T) {
	type kilo [1000]byte
	a, w := paidArena(t, 5000, arena.Config{Name: "paid", Limit: 20_000})
	for range 5 {
		if _, err := arena.TryNew[kilo](a); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := arena.TryNew[kilo](a); err != (errBroke{1000}) {
		t.Errorf("error %v", err)
	}
	if _, err := arena.TryMakeSlice[kilo](a, 0, 7); err != (errBroke{7000}) {
		t.Errorf("error %v", err)
	}
	for _, f := range []func(){
		func() { arena.New[kilo](a) },
		func() { arena.LaneOf[kilo](a).New() },
		func() { arena.NewOf(a, reflect.TypeFor[kilo]()) },
	} {
		if r := testkit.Panic(t, f); r != (errBroke{1000}) {
			t.Errorf("panics with %v", r)
		}
	}
	var le *arena.LimitError
	if _, err := arena.TryMakeSlice[kilo](a, 0, 30); !errors.As(err, &le) || le.Name != "paid" || le.Chain != nil {
		t.Errorf("error %v", err)
	}
	w.check(a)
	// Idle chunks make room for other types, as they do below the arena's own limit.
	a.Reset()
	if _, err := arena.TryMakeSlice[int16](a, 2500, 2500); err != nil {
		t.Error(err)
	}
	w.check(a)
}

// Who pays owns the arena: nobody else ends it, or hands it on, and who tries has
// changed nothing.
func TestPayerOwns(t *testing.T) {
	onOneP(t)
	var p arena.Pool
	a, w := paidArena(t, 1<<20, arena.Config{Name: "paid"})
	v := arena.NewFrom(a, 7)
	ran := 0
	a.OnReset(func() { ran++ })
	m := a.Mark()
	for op, take := range map[string]func(){"Free": a.Free, "Pool.Put": func() { p.Put(a) }} {
		panicsWith(t, "arena: "+op+` of arena "paid", which belongs to memory context server/paid and ends with it`, take)
	}
	if s := p.Stats(); s.Puts != 0 || ran != 0 || *v != 7 {
		t.Errorf("%v, %d callbacks ran, value %d", s, ran, *v)
	}
	a.Release(m)
	arena.New[int](a)
	w.check(a)
	// What its user may do by himself he still may.
	a.Trim(0)
	arena.LaneOf[int](a).Reset()
	a.Reset()
	w.check(a)
	if ran != 1 || a.Stats().InUse != 0 {
		t.Errorf("%d callbacks ran, %v", ran, a)
	}
	account.Attach(a, nil, nil)
	p.Put(a)
	if b := p.Get(); b != a || w.bytes != 0 {
		t.Errorf("the pool has another arena, %d bytes are paid for", w.bytes)
	} else {
		b.Free()
	}
}

// Others take what the payer has, and give it back, at any time. The arena gets no
// more than it wants, and what it needs if that is there at the end.
func TestPayerChangesItsMind(t *testing.T) {
	for _, x := range []struct {
		name string
		room []int // what the payer has when it is asked for the first, second, … time
		want int   // bytes that the arena gets; 0: refused
	}{
		{"at once", []int{100_000}, 30_000},
		{"is back when asked for room", []int{0, math.MaxInt / 2}, 30_000},
		{"less than needed, then enough", []int{0, 0, 30_000}, 30_000},
		{"gone when it is taken", []int{0, 50_000, 29_999, 29_999}, 0},
		{"gone for a moment", []int{0, 50_000, 0, 30_000}, 30_000},
		{"never", []int{29_999}, 0},
	} {
		for _, elems := range []int{1, 3} { // a chunk of its own, or one to open
			a, w := paidArena(t, 0)
			calls := 0
			w.asked = func() {
				w.limit = x.room[min(calls, len(x.room)-1)]
				calls++
			}
			type part [10_000]byte
			var err error
			if elems == 3 {
				_, err = arena.TryMakeSlice[part](a, 3, 3)
			} else {
				_, err = arena.TryMakeSlice[byte](a, 30_000, 30_000)
			}
			if (err == nil) != (x.want > 0) || w.bytes != x.want {
				t.Errorf("%s: %d bytes, error %v, after %d calls; want %d", x.name, w.bytes, err, calls, x.want)
			}
			w.check(a)
		}
	}
}

// Who pays for a warm arena pays for what it has, or the arena lets go of it.
func TestPayerOfWarmArena(t *testing.T) {
	type none struct{}
	for _, limit := range []int{0, 100, 2999, 100_000} {
		a := arena.NewArena()
		arena.New[none](a)
		arena.MakeSlice[byte](a, 3000, 3000)
		arena.NewOf(a, reflect.TypeFor[[100]int]())
		a.Reset()
		arena.New[none](a)
		arena.New[[100]int](a)
		a.Reset()
		before := a.Stats()
		w := &wallet{t: t, limit: limit}
		account.Attach(a, w, nil)
		w.check(a)
		if fits := before.Reserved <= limit; fits && w.bytes != before.Reserved || !fits && w.bytes != 0 {
			t.Errorf("of %d bytes %d are paid for, with a limit of %d", before.Reserved, w.bytes, limit)
		}
		w.limit = 1 << 20
		for range 3 {
			arena.New[none](a)
			arena.New[[100]int](a)
			w.check(a)
			a.Reset()
			w.check(a)
		}
		a.Trim(0)
		w.check(a)
	}
}

// After Leave what was allocated stays as it is; what is allocated from then on is
// taken back by Reset as ever.
func TestLeave(t *testing.T) {
	type value [20]int64
	a, w := paidArena(t, 1<<20)
	var ran []int
	var kept []*value
	for i := range 5 {
		for range 50 {
			kept = append(kept, arena.NewFrom(a, value{7}))
			kept = append(kept, arena.NewOf(a, reflect.TypeFor[value]()).Interface().(*value))
			*kept[len(kept)-1] = value{7}
			kept = append(kept, &arena.MakeSlice[value](a, 1, 1)[0])
			*kept[len(kept)-1] = value{7}
		}
		m := a.Mark()
		kept = append(kept, arena.NewFrom(a, value{7}))
		a.OnReset(func() { ran = append(ran, i) })
		resets := a.Stats().Resets
		account.Leave(a)
		if s := a.Stats(); s.InUse != 0 || s.Reserved != 0 || s.Resets != resets+1 || s.HighWater < 150*160 || w.bytes != 0 {
			t.Errorf("%v", s)
		}
		w.check(a)
		testkit.Panic(t, func() { a.Release(m) }) // it is no longer open
	}
	if !slices.Equal(ran, []int{0, 1, 2, 3, 4}) {
		t.Errorf("callbacks ran: %v", ran)
	}
	for range 4 { // from the second round on, in the memory of the one before
		for range 50 {
			for _, v := range []*value{arena.New[value](a), arena.NewOf(a, reflect.TypeFor[value]()).Interface().(*value)} {
				if *v != (value{}) {
					t.Fatalf("handed out %v", *v)
				}
				*v = value{9}
			}
		}
		a.Reset()
		if s := checkStats(t, a); s.InUse != 0 {
			t.Fatalf("Reset did not take back what was allocated: %v", s)
		}
		w.check(a)
	}
	if n := w.bytes; n == 0 || n > 4*50*160 {
		t.Errorf("%d bytes are kept", n)
	}
	for i, v := range kept {
		if *v != (value{7}) {
			t.Fatalf("value %d is %v", i, *v)
		}
	}
	account.Attach(a, nil, nil)
	a.Free()
	panicsWith(t, "arena: Reset after Free of an arena without a name", func() { account.Leave(a) })
}
