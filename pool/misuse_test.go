package pool_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// maxBytes is the most that Go's heap can hold, as a panic says it.
var maxBytes = fmt.Sprint(uint64(chunk.MaxBytes))

// Every mistake has a panic that says what is wrong, with which value, and where.
func TestMisuse(t *testing.T) {
	type other struct{ x int }
	for want, f := range map[string]func(){
		"pool: Max(-1): want a number of objects, 0 (none) or more":       func() { pool.Max(-1) },
		"pool: MaxBytes(-1): want a number of bytes, 0 (none) or more":    func() { pool.MaxBytes(-1) },
		"pool: Floor(-2): want a number of objects, 0 or more":            func() { pool.Floor(-2) },
		"pool: Idle(-1s): want a duration, 0 (none) or more":              func() { pool.Idle(-time.Second) },
		`pool: Pool "p": Floor(10) is above Max(9)`:                       func() { pool.New[object](nil, pool.Floor(10), pool.Max(9), pool.Name("p")) },
		`pool: a Bytes without a name: Floor(10) is above Max(9)`:         func() { pool.NewBytes(pool.Floor(10), pool.Max(9)) },
		`pool: Put of a nil *pool_test.object into Pool "p"`:              func() { pool.New[object](nil, pool.Name("p")).Put(nil) },
		"pool: Put of a nil *pool_test.object into a Pool without a name": func() { new(pool.Pool[object]).Put(nil) },
		`pool: Reset with a func(*pool_test.other) for Pool "p": want a func(*pool_test.object)`: func() {
			pool.New[object](nil, pool.Reset(func(*other) {}), pool.Name("p"))
		},
		"pool: Cost with a func(*pool_test.other) int for a Pool without a name: want a func(*pool_test.object) int": func() {
			pool.New[object](nil, pool.Cost(func(*other) int { return 0 }))
		},
		`pool: Reset with a func(*pool_test.other) for Local "l": want a func(*pool_test.object)`: func() {
			pool.NewLocal[object](nil, pool.Reset(func(*other) {}), pool.Name("l"))
		},
		"pool: New does not take the option Dirty, only Name, Max, MaxBytes, Cost, Floor, Idle, Reset": func() {
			pool.New[object](nil, pool.Dirty())
		},
		"pool: NewBytes does not take the option Reset, only Name, Max, MaxBytes, Floor, Idle, Dirty": func() {
			pool.NewBytes(pool.Reset(func(*[]byte) {}))
		},
		"pool: NewLocal does not take the option Floor, only Name, Max, Reset": func() {
			pool.NewLocal[object](nil, pool.Floor(1))
		},
		`pool: Get(-1) of Bytes "b": want a number of bytes from 0 to ` + maxBytes:   func() { pool.NewBytes(pool.Name("b")).Get(-1) },
		"pool: Get(-5) of a nil Bytes: want a number of bytes from 0 to " + maxBytes: func() { (*pool.Bytes)(nil).Get(-5) },
		`pool: Put of a nil *[]byte into Bytes "b"`:                                  func() { pool.NewBytes(pool.Name("b")).Put(nil) },
		"pool: Put of a nil *[]byte into a nil Bytes":                                func() { (*pool.Bytes)(nil).Put(nil) },
		`pool: Put of a nil *pool_test.object into Local "l"`:                        func() { pool.NewLocal[object](nil, pool.Name("l")).Put(nil) },
		"pool: Put of a nil *int into a Local without a name":                        func() { new(pool.Local[int]).Put(nil) },
		`pool: newFn of Local "l" returned a nil *int`: func() {
			pool.NewLocal(func() *int { return nil }, pool.Name("l")).Get()
		},
	} {
		testkit.PanicText(t, want, f)
	}
}

// nil functions and zero options stand for none, 0 for no bound.
func TestOptionsForNothing(t *testing.T) {
	p := pool.New[object](nil, pool.Option{}, pool.Reset[object](nil), pool.Cost[object](nil), pool.Max(0), pool.MaxBytes(0), pool.Floor(0), pool.Idle(0), pool.Name(""))
	for range 5000 {
		p.Put(new(object))
	}
	if s := checkStats(t, p.Stats()); s.Max != 0 || s.MaxBytes != 0 || s.Dropped() != 0 {
		t.Errorf("%+v", s)
	}
	b := pool.NewBytes(pool.MaxBytes(0))
	if s := checkStats(t, b.Stats()); s.MaxBytes != 0 {
		t.Errorf("%+v", s)
	}
	l := pool.NewLocal[object](nil, pool.Reset[object](nil), pool.Max(0))
	for range 5000 {
		l.Put(new(object))
	}
	if s := checkStats(t, l.Stats()); s.Idle != 5000 || s.Max != 0 {
		t.Errorf("%+v", s)
	}
}
