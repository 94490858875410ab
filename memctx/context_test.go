package memctx_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/scope"
	"github.com/haven-mem/haven/memctx"
)

func TestContextCarries(t *testing.T) {
	type key struct{}
	mc, other := memctx.New("carried"), memctx.New("other")
	defer mc.Delete()
	defer other.Delete()
	bg := context.Background()
	with := memctx.With(bg, mc)
	derived, cancel := context.WithTimeout(context.WithValue(with, key{}, 1), time.Hour)
	defer cancel()
	for _, c := range []struct {
		what string
		ctx  context.Context
		want *memctx.Context
	}{
		{"the background", bg, nil},
		{"one with a context", with, mc},
		{"one derived from it", derived, mc},
		{"one derived without cancellation", context.WithoutCancel(derived), mc},
		{"one with another on top", memctx.With(derived, other), other},
		{"one with nil on top", memctx.With(derived, nil), nil},
	} {
		if got := memctx.FromContext(c.ctx); got != c.want {
			t.Errorf("FromContext of %s is %v, want %v", c.what, got, c.want)
		}
	}
	cancel()
	if got := memctx.FromContext(derived); got != mc {
		t.Errorf("FromContext of a cancelled one is %v, want %v", got, mc)
	}
}

// TestContextAnyGoroutine has many goroutines ask, each through a context of its
// own. For the race detector.
func TestContextAnyGoroutine(t *testing.T) {
	mc := memctx.New("carried")
	defer mc.Delete()
	s := &scope.Scope[*memctx.Context]{Context: context.Background()}
	*s.Carry() = mc
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range 200 {
				ctx, cancel := context.WithCancel(s)
				if got := memctx.FromContext(ctx); got != mc {
					t.Errorf("FromContext is %v", got)
				}
				cancel()
			}
		}()
	}
	wg.Wait()
	if s.Close() {
		t.Error("somebody is late")
	}
	if got := memctx.FromContext(s); got != nil {
		t.Errorf("FromContext of a closed scope is %v", got)
	}
}

// BenchmarkFromContext compares with what a context.Context of the same depth
// costs by itself.
func BenchmarkFromContext(b *testing.B) {
	type key struct{}
	mc := memctx.New("bench")
	defer mc.Delete()
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	s := &scope.Scope[*memctx.Context]{Context: base}
	*s.Carry() = mc
	below, cancelBelow := context.WithTimeout(s, time.Hour)
	defer cancelBelow()
	for _, c := range []struct {
		name string
		ctx  context.Context
	}{
		{"plain", memctx.With(base, mc)},
		{"request", s},
		{"request-value", context.WithValue(s, key{}, 1)},
		{"request-timeout", below},
	} {
		b.Run("impl=FromContext/ctx="+c.name, func(b *testing.B) {
			for b.Loop() {
				if memctx.FromContext(c.ctx) == nil {
					b.Fatal("nil")
				}
			}
		})
		b.Run("impl=Value/ctx="+c.name, func(b *testing.B) {
			for b.Loop() {
				if c.ctx.Value(scope.Key{}) == nil {
					b.Fatal("nil")
				}
			}
		})
	}
}
