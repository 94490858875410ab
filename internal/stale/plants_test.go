package stale_test

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"time"

	"github.com/haven-mem/haven/internal/magazine"
)

// A plant keeps what it is given until end is called.
type plant struct {
	name string
	keep func(v any) (end func())
}

var (
	global    any
	globalBox struct{ inner []any }
)

func keepGlobal(v any) func() {
	global = v
	return func() { global = nil }
}

type key struct{}

var plants = []plant{
	{"global variable", keepGlobal},
	{"field of a field", func(v any) func() {
		globalBox.inner = append(globalBox.inner, v)
		return func() { globalBox.inner = nil }
	}},
	{"closure", func(v any) func() {
		return keepGlobal(func() any { return v })
	}},
	{"channel", func(v any) func() {
		c := make(chan any, 1)
		c <- v
		return keepGlobal(c)
	}},
	{"map key", func(v any) func() {
		if reflect.TypeOf(v).Comparable() {
			return keepGlobal(map[any]bool{v: true})
		}
		return keepGlobal(map[int]any{1: v})
	}},
	{"goroutine stack", func(v any) func() {
		ready, done := make(chan bool), make(chan bool)
		go func() {
			x := v
			v = nil
			ready <- true
			<-done
			runtime.KeepAlive(x)
			ready <- true
		}()
		<-ready
		return func() { close(done); <-ready }
	}},
	{"goroutine that waits for a channel", func(v any) func() {
		c, done := make(chan any), make(chan bool)
		go func() { c <- v; close(done) }()
		return func() { <-c; <-done }
	}},
	{"context.Value", func(v any) func() {
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), key{}, v))
		end := keepGlobal(ctx)
		return func() { cancel(); end() }
	}},
	{"sync.Pool in use", func(v any) func() {
		before := runtime.GOMAXPROCS(1) // or the object may stay behind with a P, and go
		var p sync.Pool
		var own any // under the race detector, whose Pool drops a quarter
		box := &[]any{v}
		if magazine.Race {
			own = box
		}
		p.Put(box)
		done := make(chan bool)
		go func() {
			defer close(done)
			for {
				x := p.Get()
				if x == nil {
					x = own
				}
				p.Put(x)
				select {
				case done <- true:
					return
				default:
					runtime.Gosched()
				}
			}
		}()
		return func() { <-done; runtime.GOMAXPROCS(before) }
	}},
	{"cleanup", func(v any) func() {
		p := new([2]*int)
		c := runtime.AddCleanup(p, func(v any) {}, v)
		end := keepGlobal(p)
		return func() { c.Stop(); end() }
	}},
	{"timer", func(v any) func() {
		x := time.AfterFunc(time.Hour, func() { runtime.KeepAlive(v) })
		return func() { x.Stop() }
	}},
}
