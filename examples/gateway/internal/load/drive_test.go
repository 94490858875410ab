package load_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
)

// serve starts a gateway that replies with f.
func serve(t *testing.T, f http.HandlerFunc) (addr string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		f(w, r)
	}))
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

// TestSteadyCountsWaiting has a gateway that stands still once. All requests that
// are due meanwhile must count as late, and not only the one that it was busy
// with.
func TestSteadyCountsWaiting(t *testing.T) {
	const still = 400 * time.Millisecond
	var served atomic.Int64
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if served.Add(1) == 10 {
			time.Sleep(still)
		}
		io.WriteString(w, "{}")
	})
	done, err := load.Steady(t.Context(), addr, 1, 500, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if done.Requests != 500 {
		t.Errorf("%d requests, want 500", done.Requests)
	}
	// Two fifths of the requests are due while it stands still, and they wait at
	// least half as long on average.
	if done.Latency.P99 < still*9/10 || done.Latency.P999 < done.Latency.P99 || done.Latency.Max < still {
		t.Errorf("latencies %+v, want p99 near %v", done.Latency, still)
	}
}

// TestSteadyGivesUp has a gateway that is too slow for the rate.
func TestSteadyGivesUp(t *testing.T) {
	release := make(chan struct{})
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) { <-release })
	defer close(release)
	_, err := load.Steady(t.Context(), addr, 2, 100_000, time.Minute)
	if err == nil || !strings.Contains(err.Error(), "cannot keep up with 100000 requests per second") {
		t.Errorf("error %v", err)
	}
}

// TestSteadyIsInterrupted ends while no reply comes.
func TestSteadyIsInterrupted(t *testing.T) {
	release := make(chan struct{})
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		cancel(interrupted)
		<-release
	})
	defer close(release)
	if _, err := load.Steady(ctx, addr, 2, 1000, time.Minute); !errors.Is(err, interrupted) {
		t.Errorf("error %v, want it to be interrupted", err)
	}
}

// TestBadReplies has gateways that do not do as they should.
func TestBadReplies(t *testing.T) {
	for _, c := range []struct {
		name string
		f    http.HandlerFunc
		want string
	}{
		{"refused", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no such thing", http.StatusUnprocessableEntity)
		}, "HTTP/1.1 422 Unprocessable Entity: no such thing"},
		{"no length", func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
		}, "no Content-Length"},
		{"cut off", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "{}")
			panic(http.ErrAbortHandler)
		}, "EOF"},
	} {
		_, err := load.Steady(t.Context(), serve(t, c.f), 1, 100, 50*time.Millisecond)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
