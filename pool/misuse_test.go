package pool_test

import (
	"fmt"
	"reflect"
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
	for want, f := range map[string]func(){
		"pool: Config.Max is -1: want a number of objects, 0 (no bound) or more":                      func() { pool.New(nil, pool.Config[object]{Max: -1}) },
		"pool: Config.MaxBytes is -1: want a number of bytes, 0 (no bound) or more":                   func() { pool.New(nil, pool.Config[object]{MaxBytes: -1}) },
		"pool: Config.Floor is -2: want a number of objects, 0 or more":                               func() { pool.New(nil, pool.Config[object]{Floor: -2}) },
		"pool: Config.Idle is -1s: want a duration, 0 (at collections) or more":                       func() { pool.New(nil, pool.Config[object]{Idle: -time.Second}) },
		"pool: Config.Floor is 10: want no more than Max, which is 9":                                 func() { pool.New(nil, pool.Config[object]{Floor: 10, Max: 9}) },
		"pool: BytesConfig.Max is -1: want a number of objects, 0 (no bound) or more":                 func() { pool.NewBytes(pool.BytesConfig{Max: -1}) },
		"pool: BytesConfig.MaxBytes is -2: want a number of bytes, 0 (the default), or -1 (no bound)": func() { pool.NewBytes(pool.BytesConfig{MaxBytes: -2}) },
		"pool: BytesConfig.Floor is 10: want no more than Max, which is 9":                            func() { pool.NewBytes(pool.BytesConfig{Floor: 10, Max: 9}) },
		"pool: BytesConfig.Idle is -1s: want a duration, 0 (at collections) or more":                  func() { pool.NewBytes(pool.BytesConfig{Idle: -time.Second}) },
		"pool: LocalConfig.Max is -2: want a number of objects, 0 (the default), or -1 (no bound)":    func() { pool.NewLocal(nil, pool.LocalConfig[object]{Max: -2}) },
		"pool: New: 2 structs of settings: want one, or none":                                         func() { pool.New(nil, pool.Config[object]{}, pool.Config[object]{}) },
		"pool: NewBytes: 2 structs of settings: want one, or none":                                    func() { pool.NewBytes(pool.BytesConfig{}, pool.BytesConfig{}) },
		"pool: NewLocal: 2 structs of settings: want one, or none":                                    func() { pool.NewLocal(nil, pool.LocalConfig[object]{}, pool.LocalConfig[object]{}) },
		`pool: Put of a nil *pool_test.object into Pool "p"`:                                          func() { pool.New(nil, pool.Config[object]{Name: "p"}).Put(nil) },
		"pool: Put of a nil *pool_test.object into a Pool without a name":                             func() { new(pool.Pool[object]).Put(nil) },
		`pool: Get(-1) of Bytes "b": want a number of bytes from 0 to ` + maxBytes:                    func() { pool.NewBytes(pool.BytesConfig{Name: "b"}).Get(-1) },
		"pool: Get(-5) of a nil Bytes: want a number of bytes from 0 to " + maxBytes:                  func() { (*pool.Bytes)(nil).Get(-5) },
		`pool: Put of a nil *[]byte into Bytes "b"`:                                                   func() { pool.NewBytes(pool.BytesConfig{Name: "b"}).Put(nil) },
		"pool: Put of a nil *[]byte into a nil Bytes":                                                 func() { (*pool.Bytes)(nil).Put(nil) },
		`pool: Put of a nil *pool_test.object into Local "l"`:                                         func() { pool.NewLocal(nil, pool.LocalConfig[object]{Name: "l"}).Put(nil) },
		"pool: Put of a nil *int into a Local without a name":                                         func() { new(pool.Local[int]).Put(nil) },
		`pool: newFn of Local "l" returned a nil *int`: func() {
			pool.NewLocal(func() *int { return nil }, pool.LocalConfig[int]{Name: "l"}).Get()
		},
	} {
		testkit.PanicText(t, want, f)
	}
}

// A zero Config is a zero pool, and -1 no bound.
func TestConfigForNothing(t *testing.T) {
	p := pool.New(nil, pool.Config[object]{})
	for range 5000 {
		p.Put(new(object))
	}
	if s := checkStats(t, p.Stats()); s.Max != 0 || s.MaxBytes != 0 || s.Dropped() != 0 {
		t.Errorf("%+v", s)
	}
	b := pool.NewBytes(pool.BytesConfig{MaxBytes: -1})
	if s := checkStats(t, b.Stats()); s.MaxBytes != 0 {
		t.Errorf("%+v", s)
	}
	l := pool.NewLocal(nil, pool.LocalConfig[object]{Max: -1})
	for range 5000 {
		l.Put(new(object))
	}
	if s := checkStats(t, l.Stats()); s.Idle != 5000 || s.Max != 0 {
		t.Errorf("%+v", s)
	}
}

// What pools of all types have in common reads their Configs as those of one type.
func TestConfigsAreAlike(t *testing.T) {
	for a, b := range map[reflect.Type]reflect.Type{
		reflect.TypeFor[pool.Config[struct{}]]():      reflect.TypeFor[pool.Config[[99]*int]](),
		reflect.TypeFor[pool.LocalConfig[struct{}]](): reflect.TypeFor[pool.LocalConfig[[99]*int]](),
	} {
		for i := range a.NumField() {
			if f, g := a.Field(i), b.Field(i); f.Offset != g.Offset || f.Type.Kind() != g.Type.Kind() || f.Type.Size() != g.Type.Size() {
				t.Errorf("field %s is a %v at %d, or a %v at %d", f.Name, f.Type, f.Offset, g.Type, g.Offset)
			}
		}
	}
}
