package memhttp_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/memhttp"
)

// A latecomer is a handler that outlives a timeout: it fills its memory, waits
// until it is told to go on, and looks whether the memory is as it was.
type latecomer struct {
	filled chan bool // whether it got memory, sent when that is filled
	goOn   chan struct{}
	result chan error
}

func newLatecomer() *latecomer {
	return &latecomer{make(chan bool, 1), make(chan struct{}), make(chan error, 1)}
}

func (l *latecomer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	mc := memctx.FromContext(r.Context())
	a := mc.Arena()
	list := fill(a, 7, 1000)
	l.filled <- mc != nil
	<-l.goOn
	err := intact(list, 7, 1000)
	if err == nil {
		err = intact(fill(a, 8, 1000), 8, 1000) // it may go on allocating
	}
	if err == nil {
		err = intact(list, 7, 1000)
	}
	l.result <- err
	w.Write([]byte("late"))
}

// TestTimeoutHandler has a handler time out with TimeoutHandler around Handler and
// the other way round. In both cases the answer is there while the handler runs,
// and nobody else may get its memory, during and after that.
func TestTimeoutHandler(t *testing.T) {
	for _, c := range []struct {
		name  string
		setup func(t *testing.T, h http.Handler, timeout time.Duration) (url string, client *http.Client, root *memctx.Context)
	}{
		{"outside", func(t *testing.T, h http.Handler, timeout time.Duration) (string, *http.Client, *memctx.Context) {
			root := memctx.New("server")
			ts := httptest.NewServer(http.TimeoutHandler(memhttp.Handler(h, memhttp.Config{Parent: root}), timeout, "timeout"))
			t.Cleanup(func() {
				ts.Close()
				verifyNone(t, root)
			})
			return ts.URL, ts.Client(), root
		}},
		{"inside", func(t *testing.T, h http.Handler, timeout time.Duration) (string, *http.Client, *memctx.Context) {
			s := serve(t, http.TimeoutHandler(h, timeout, "timeout"))
			return s.URL, s.Client(), s.root
		}},
		{"inside a value", func(t *testing.T, h http.Handler, timeout time.Duration) (string, *http.Client, *memctx.Context) {
			type key struct{}
			s := serve(t, http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithCancel(context.WithValue(r.Context(), key{}, 1))
				defer cancel()
				h.ServeHTTP(w, r.WithContext(ctx))
			}), timeout, "timeout"))
			return s.URL, s.Client(), s.root
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for timeout, inTime := 20*time.Millisecond, false; !inTime && !t.Failed(); timeout *= 4 {
				t.Run(timeout.String(), func(t *testing.T) {
					before := names("request")
					l := newLatecomer()
					url, client, root := c.setup(t, l, timeout)
					if status, body := get(t, client, url); status != http.StatusServiceUnavailable || body != "timeout" {
						t.Fatalf("%d %q", status, body)
					}
					// On a slow machine the timeout may come before the handler.
					inTime = testkit.Receive(t, "the handler has filled its memory", l.filled)
					churn(t, churner(root))
					close(l.goOn)
					if err := testkit.Receive(t, "the handler has ended", l.result); err != nil {
						t.Error(err)
					}
					churn(t, churner(root))
					if inTime {
						testkit.Until(t, "the request has ended", func() bool { return names("request").Abandoned > before.Abandoned })
					}
				})
			}
		})
	}
}

// TestTimeoutHandlerInTime checks that a TimeoutHandler which had nothing to do
// does not keep memory from being used again.
func TestTimeoutHandlerInTime(t *testing.T) {
	before := names("request")
	s := serve(t, http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		fill(mc.Arena(), 1, 10)
		w.Write([]byte("in time"))
	}), time.Hour, ""))
	for range 10 {
		if status, body := get(t, s.Client(), s.URL); status != http.StatusOK || body != "in time" {
			t.Fatalf("%d %q", status, body)
		}
	}
	testkit.Until(t, "ten requests have ended", func() bool { return names("request").Deleted-before.Deleted >= 10 })
	if n := names("request").Abandoned - before.Abandoned; n != 0 {
		t.Errorf("%d were abandoned", n)
	}
}

// TestAskLate has a handler ask for its memory only when its request is over. It
// gets none, so that it uses Go's heap.
func TestAskLate(t *testing.T) {
	goOn, got := make(chan struct{}), make(chan *memctx.Context, 2)
	s := serve(t, http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		<-goOn
		got <- memctx.FromContext(r.Context())
		got <- memctx.FromContext(context.WithoutCancel(r.Context()))
	}), time.Millisecond, ""))
	if status, _ := get(t, s.Client(), s.URL); status != http.StatusServiceUnavailable {
		t.Fatal(status)
	}
	// The request's context ends a moment after the client has the answer.
	testkit.Until(t, "the request has ended", func() bool {
		open := false
		s.root.Walk(func(c *memctx.Context, _ int) bool {
			open = open || c.Name() == "request"
			return true
		})
		return !open
	})
	close(goOn)
	for range 2 {
		if mc := testkit.Receive(t, "the handler has asked", got); mc != nil {
			t.Errorf("the handler got %v", mc)
		}
	}
}

// TestDetached has a handler hand its memory to a goroutine that is not to end
// with the request, and forget the lease.
func TestDetached(t *testing.T) {
	l := newLatecomer()
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		detached := r.WithContext(context.WithoutCancel(r.Context()))
		go l.ServeHTTP(httptest.NewRecorder(), detached)
		<-l.filled
	}))
	get(t, s.Client(), s.URL)
	churn(t, churner(s.root))
	close(l.goOn)
	if err := testkit.Receive(t, "the goroutine has ended", l.result); err != nil {
		t.Error(err)
	}
}

// TestLease has a goroutine outlive its handler, as the documentation says.
func TestLease(t *testing.T) {
	goOn, result := make(chan struct{}), make(chan error, 1)
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mc := memctx.FromContext(r.Context())
		list := fill(mc.Arena(), 7, 1000)
		release := mc.Retain()
		go func() {
			defer release()
			<-goOn
			err := intact(list, 7, 1000)
			if err == nil {
				err = intact(fill(mc.Arena(), 8, 1000), 8, 1000)
			}
			result <- err
		}()
	}))
	before := names("request")
	get(t, s.Client(), s.URL)
	churn(t, churner(s.root))
	s.Client().CloseIdleConnections()
	testkit.Until(t, "the lease alone holds the request and its connection", func() bool {
		held := 0
		s.root.Walk(func(c *memctx.Context, _ int) bool {
			if c.Stats().Deleted {
				held++
			}
			return true
		})
		return held == 2
	})
	close(goOn)
	if err := testkit.Receive(t, "the goroutine has ended", result); err != nil {
		t.Error(err)
	}
	testkit.Until(t, "the lease's end ended them", func() bool { return s.root.Stats().Contexts == 1 })
	if n := names("request").Abandoned - before.Abandoned; n != 0 {
		t.Errorf("%d requests were abandoned", n)
	}
}
