//go:build go1.25

package debugpage_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/debugpage"
	"github.com/haven-mem/haven/internal/testkit"
)

// The page may first be registered in a bubble of testing/synctest. That starts the samples of
// the process, by the world's clock.
func TestRegisterInBubble(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	mux := http.NewServeMux()
	look := func(t *testing.T) (s debugpage.Stats) {
		if err := json.Unmarshal(get(t, mux, "GET", debugpage.Path+"stats.json").Body.Bytes(), &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	synctest.Test(t, func(t *testing.T) {
		debugpage.Register(mux)
		look(t)
		time.Sleep(time.Hour)
		if s := look(t); s.Process.Uptime != 0 {
			t.Errorf("up for %v, by the clock of a bubble", s.Process.Uptime)
		}
	})
	testkit.Until(t, "there is a sample", func() bool {
		testkit.CollectGarbage()
		return look(t).History.Interval > 0
	})
	if s := look(t); s.Process.Uptime <= 0 || time.Since(time.UnixMilli(s.History.Times[0])) > time.Hour {
		t.Errorf("up for %v, a sample at %v", s.Process.Uptime, s.History.Times)
	}
}
