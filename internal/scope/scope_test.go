package scope_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/scope"
)

// open returns a scope below ctx and what it carries.
func open(ctx context.Context) (*scope.Scope[*int], *int) {
	s := &scope.Scope[*int]{Context: ctx}
	v := new(int)
	*s.Carry() = v
	return s, v
}

// expired returns a context whose deadline is over.
func expired(ctx context.Context) context.Context {
	ctx, cancel := context.WithDeadline(ctx, time.Unix(0, 0))
	cancel() // which comes too late to be the reason
	return ctx
}

// A key is that of a value in a context.
type key struct{}

// TestLate checks what a scope concludes from those who asked.
func TestLate(t *testing.T) {
	cancelled := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return ctx
	}
	deadline := func(ctx context.Context) context.Context {
		ctx, cancel := context.WithTimeout(ctx, time.Hour)
		t.Cleanup(cancel)
		return ctx
	}
	value := func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) }
	base, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, c := range []struct {
		what   string
		derive []func(context.Context) context.Context
		late   bool
	}{
		{"itself", nil, false},
		{"a value", []func(context.Context) context.Context{value}, false},
		{"one that was cancelled", []func(context.Context) context.Context{cancelled}, false},
		{"one with a deadline to come", []func(context.Context) context.Context{deadline}, false},
		{"one whose deadline is over", []func(context.Context) context.Context{expired}, true},
		{"a value below a deadline that is over", []func(context.Context) context.Context{value, expired, value}, true},
		{"a cancelled one below a deadline that is over", []func(context.Context) context.Context{expired, cancelled}, true},
		{"one that cannot be cancelled", []func(context.Context) context.Context{context.WithoutCancel}, true},
	} {
		s, v := open(base)
		var ctx context.Context = s
		for _, f := range c.derive {
			ctx = f(ctx)
		}
		for range 3 {
			if got := s.For(ctx); got != v {
				t.Errorf("%s: got %v", c.what, got)
			}
		}
		if got := s.Close(); got != c.late {
			t.Errorf("%s: late is %v, want %v", c.what, got, c.late)
		}
		if got := s.For(ctx); got != nil {
			t.Errorf("%s: got %v after Close", c.what, got)
		}
		if *s.Carried() != v {
			t.Errorf("%s: carried is lost", c.what)
		}
	}
}

// TestAsked checks that a scope knows of all who were given what it carries.
func TestAsked(t *testing.T) {
	value := func(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, 1) }
	for _, derive := range []func(context.Context) context.Context{nil, value, expired, context.WithoutCancel} {
		base, cancel := context.WithCancel(context.Background())
		s, _ := open(base)
		var ctx context.Context = s
		if derive != nil {
			ctx = derive(ctx)
		}
		if ctx.Value(key{}); s.Asked() {
			t.Error("asked before anybody did")
		}
		if s.For(ctx); !s.Asked() {
			t.Error("not asked")
		}
		s.Close()
		cancel()
	}
}

// TestExpiresLater checks that what counts is the end, not the time of asking.
func TestExpiresLater(t *testing.T) {
	s, v := open(context.Background())
	ctx, cancel := context.WithTimeout(s, time.Millisecond)
	defer cancel()
	if s.For(ctx) != v {
		t.Error("nothing carried")
	}
	<-ctx.Done()
	if !s.Close() {
		t.Error("who asked before its deadline is not late after it")
	}
}

// TestNotBelow checks a scope without cancellation above it, as in tests that call
// a handler.
func TestNotBelow(t *testing.T) {
	s, v := open(context.Background())
	if s.For(context.WithoutCancel(context.WithValue(s, key{}, 1))) != v || s.Close() {
		t.Error("where nothing can be cancelled, that says nothing")
	}
}

// TestPrune has a request derive contexts in a loop. Those that are over are
// forgotten, and what they told is not.
func TestPrune(t *testing.T) {
	for _, withLate := range []bool{false, true} {
		s, v := open(context.Background())
		live, cancelLive := context.WithCancel(s)
		s.For(live)
		if withLate {
			s.For(expired(s))
		}
		var last context.Context
		for range 10_000 {
			ctx, cancel := context.WithCancel(s)
			if s.For(ctx) != v {
				t.Fatal("nothing carried")
			}
			cancel()
			last = ctx
		}
		if n := s.Sightings(); n > 20 {
			t.Errorf("%d contexts are remembered, of which one can tell something", n)
		}
		s.For(last)
		cancelLive()
		if got := s.Close(); got != withLate {
			t.Errorf("late is %v, want %v", got, withLate)
		}
	}
}

// TestCloseRace has goroutines ask while the scope is closed. Who got something was
// seen by Close.
func TestCloseRace(t *testing.T) {
	for range 500 {
		s, v := open(context.Background())
		var wg sync.WaitGroup
		got := make([]*int, 8)
		for i := range got {
			wg.Add(1)
			go func() {
				defer wg.Done()
				got[i] = s.For(expired(s))
			}()
		}
		runtime.Gosched()
		late := s.Close()
		wg.Wait()
		for _, p := range got {
			if p == v && !late {
				t.Fatal("somebody was given the value and not seen")
			}
		}
	}
}

// TestValue checks that a scope passes on what is not its own.
func TestValue(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "above"))
	s, _ := open(ctx)
	if got := s.Value(key{}); got != "above" {
		t.Errorf("value is %v", got)
	}
	if got := context.WithValue(s, key{}, 0).Value(scope.Key{}); got != s {
		t.Errorf("the scope is %v", got)
	}
	cause := errors.New("cause")
	cancel(cause)
	below, cancelBelow := context.WithTimeout(s, time.Hour)
	defer cancelBelow()
	if context.Cause(below) != cause {
		t.Error("cancellation does not come through")
	}
}
