package top

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/haven-mem/haven/debugpage"
)

func TestOnce(t *testing.T) {
	address := serve(t, servePage(t))
	for _, args := range [][]string{{"-once"}, {}} { // the output is no terminal
		status, stdout, stderr := once(append(args, address, "-view", "contexts", "-sort", "age", "-n", "2")...)
		s := fixedState(t)
		s.show(contextsView)
		s.sortBy("age")
		s.target, s.most = strings.TrimPrefix(address, "http://"), 2
		if status != 0 || stdout != page(s, 0) || stderr != "" {
			t.Errorf("%q: status %d, %q\n%s, want\n%s", args, status, stderr, stdout, page(s, 0))
		}
		if !shown(strings.ReplaceAll(stdout, "\n", "")) || !strings.Contains(stdout, "… 7 more rows\n") {
			t.Errorf("%q", stdout)
		}
	}
}

func TestJSON(t *testing.T) {
	// As a server might write it that is not Go's encoding/json.
	body := strings.Replace(string(fixedReading(t).json), `"Format"`, "\n  \"Later\" : \"\u009b \u202e 日本 \U000e0001 \xff\",\n\"Format\"", 1)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, body) })
	for _, args := range [][]string{{"-json"}, {"-json", "-once"}} {
		status, stdout, stderr := once(append(args, address)...)
		if status != 0 || stderr != "" || strings.Count(stdout, "\n") != 1 || !shown(strings.TrimSuffix(stdout, "\n")) {
			t.Fatalf("%q: status %d, %q, %q", args, status, stderr, stdout)
		}
		var got struct {
			Later string
			debugpage.Stats
		}
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatal(err)
		}
		if want := "\u009b \u202e 日本 \U000e0001 \ufffd"; got.Later != want || !reflect.DeepEqual(&got.Stats, fixedStats()) {
			t.Errorf("%q: %q, want %q and\n%+v", args, got.Later, want, got.Stats)
		}
	}
}

// A lineWriter calls f for each line.
type lineWriter struct {
	mu   sync.Mutex
	rest bytes.Buffer
	f    func(line string)
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest.Write(p)
	for {
		line, err := w.rest.ReadString('\n')
		if err != nil {
			w.rest.WriteString(line)
			return len(p), nil
		}
		w.f(line)
	}
}

// TestRepeated prints readings of a program that is away for a while, until a
// signal comes.
func TestRepeated(t *testing.T) {
	for _, form := range []string{"-json", "-view=tree"} {
		t.Run(form, func(t *testing.T) {
			var served atomic.Int32
			good := servePage(t)
			address := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if n := served.Add(1); n >= 3 && n <= 5 {
					http.NotFound(w, r)
					return
				}
				good(w, r)
			})
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var pages, complaints int
			stdout := &lineWriter{f: func(line string) {
				if strings.HasPrefix(line, "haven top") || strings.HasPrefix(line, "{") {
					if pages++; pages == 4 {
						cancel()
					}
				}
			}}
			stderr := &lineWriter{f: func(line string) { complaints++ }}
			o, err := parseArgs([]string{form, "-interval", "100ms", address})
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- run(ctx, o, strings.NewReader(""), stdout, stderr) }()
			if err := get(t, done); err != nil {
				t.Error(err)
			}
			if pages != 4 || complaints != 1 || served.Load() < 7 {
				t.Errorf("%d pages, %d complaints, %d requests", pages, complaints, served.Load())
			}
		})
	}
}

func TestBrokenOutput(t *testing.T) {
	var stderr bytes.Buffer
	status := Run([]string{serve(t, servePage(t)), "-once"}, strings.NewReader(""), brokenWriter{}, &stderr)
	if status != 1 || stderr.String() != "haven top: "+syscall.EPIPE.Error()+"\n" {
		t.Errorf("status %d, %q", status, stderr.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, syscall.EPIPE }
