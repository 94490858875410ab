package reuse_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/reuse"
)

// want fails the test unless the record is in the state that String begins with.
func want(t *testing.T, r *reuse.Record, text string, keeps bool) {
	t.Helper()
	s := r.State()
	if got := s.String(); !strings.HasPrefix(got, text) || r.Keeps() != keeps || s.Earned != (keeps && s.Mode == reuse.Earn) {
		t.Fatalf("%s, keeps %v, want %s and %v", got, r.Keeps(), text, keeps)
	}
}

func TestAlways(t *testing.T) {
	r := reuse.New(reuse.Always, 5)
	want(t, r, "always reusing", true)
	if r != nil || r.Watched(true) != nil {
		t.Error("what is always used again has a record")
	}
}

func TestNever(t *testing.T) {
	r := reuse.New(reuse.Never, 0)
	want(t, r, "never reusing", false)
	if r.OnTrial() || r.Watched(true) != nil {
		t.Error("what is never used again is on trial")
	}
	want(t, r, "never reusing", false)
}

// Memory is used again when all trials are over and judged, not before, and in whatever
// order that happens.
func TestEarn(t *testing.T) {
	r := reuse.New(reuse.Earn, 3)
	var judged []func(bool)
	for i, text := range []string{"trial 0/3", "trial 1/3", "trial 2/3"} {
		want(t, r, text, false)
		if !r.OnTrial() {
			t.Fatalf("trial %d is not watched", i)
		}
		judged = append(judged, r.Watched(true))
		if i == 0 {
			judged[0](false) // before the next begins
		}
	}
	want(t, r, "waiting for collections", false)
	if r.OnTrial() {
		t.Error("there are more trials than were asked for")
	}
	late := r.Watched(true) // asked while the third was on its way
	judged[2](false)
	judged[1](false)
	want(t, r, "waiting for collections", false)
	late(false)
	want(t, r, "reusing", true)
	r.Watched(true)(false)  // of one that began before
	r.Watched(false)(false) // a sample
	want(t, r, "reusing", true)
	if reuse.New(reuse.Earn, 0).State().Trials != reuse.DefaultTrials {
		t.Error("the default is another")
	}
}

// Whatever is found, in a trial, while others are waited for, or in a sample, everything
// starts over, and what began before counts no more.
func TestFound(t *testing.T) {
	for name, stop := range map[string]func(r *reuse.Record) (before []func(bool)){
		"trial": func(r *reuse.Record) []func(bool) { return []func(bool){r.Watched(true), r.Watched(true)} },
		"waiting": func(r *reuse.Record) []func(bool) {
			return []func(bool){r.Watched(true), r.Watched(true), r.Watched(true)}
		},
		"sample": func(r *reuse.Record) []func(bool) {
			for range 3 {
				r.Watched(true)(false)
			}
			want(t, r, "reusing", true)
			return []func(bool){r.Watched(false), r.Watched(false)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := reuse.New(reuse.Earn, 3)
			before := stop(r)
			began := time.Now()
			before[0](true)
			want(t, r, "trial 0/3, stopped 1 time, the last at 2", false)
			if s := r.State(); s.Found != 1 || s.Last.Before(began.Add(-time.Second)) || s.Last.After(time.Now().Add(time.Second)) {
				t.Errorf("%+v", s)
			}
			second := []func(bool){r.Watched(true), r.Watched(true), r.Watched(true)}
			for _, judged := range before[1:] {
				judged(false)
			}
			want(t, r, "waiting for collections, stopped", false)
			second[0](false)
			second[1](false)
			want(t, r, "waiting for collections, stopped", false)
			second[2](false)
			want(t, r, "reusing, stopped 1 time", true)
			before[0](true) // of the round before, but there is somebody who keeps pointers
			want(t, r, "trial 0/3, stopped 2 times", false)
		})
	}
}

func TestConcurrent(t *testing.T) {
	r := reuse.New(reuse.Earn, 1000)
	var wg sync.WaitGroup
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range 1000 {
				keeps := r.Keeps()
				judged := r.Watched(!keeps)
				_ = r.State().String()
				judged(i == 500)
			}
		}()
	}
	wg.Wait()
	if s := r.State(); s.Found != 8 {
		t.Errorf("%+v", s)
	}
	for !r.Keeps() {
		r.Watched(true)(false)
	}
}
