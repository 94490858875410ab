//go:build go1.25

package pool_test

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// use puts many objects into a pool, from a few goroutines.
func use(p *pool.Pool[object]) {
	done := make(chan bool)
	for range 3 {
		go func() {
			for range 200 {
				p.Put(new(object))
			}
			for range 50 {
				p.Put(p.Get())
			}
			done <- true
		}()
	}
	for range 3 {
		<-done
	}
}

// A pool with Idle is trimmed by the world's clock, whether it is used in bubbles of
// testing/synctest, outside, or in both by turns.
func TestIdleInBubbles(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "HAVEN_STALE=0")
		return
	}
	bubble := func(p *pool.Pool[object]) {
		synctest.Test(t, func(*testing.T) {
			use(p)
			time.Sleep(time.Hour)
			use(p)
		})
	}
	for name, turns := range map[string][]func(*pool.Pool[object]){
		"bubble":                   {bubble},
		"two bubbles":              {bubble, bubble},
		"bubble, and then world":   {bubble, use},
		"world, and then bubble":   {use, bubble},
		"bubble, world and bubble": {bubble, use, bubble},
	} {
		for _, between := range []bool{false, true} {
			p := pool.New(nil, pool.Config[object]{Idle: 1, Floor: 3})
			rest := func() {
				testkit.Until(t, name+": the pool is trimmed", func() bool {
					runtime.GC() // for which a timer waits that was asked for in a bubble
					return checkStats(t, p.Stats()).Idle == 3
				})
			}
			for _, turn := range turns {
				turn(p)
				if between {
					rest()
				}
			}
			rest()
		}
	}
}

// Pools that collections trim do so after bubbles.
func TestTrimAfterBubble(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "HAVEN_STALE=0")
		return
	}
	var p pool.Pool[object]
	var b pool.Bytes
	synctest.Test(t, func(t *testing.T) {
		use(&p)
		b.Put(b.Get(1000))
		testkit.Eventually(t, "trimmed in the bubble", func() bool { return p.Stats().Idle+b.Stats().Idle == 0 })
		use(&p)
		b.Put(b.Get(1000))
	})
	testkit.Eventually(t, "trimmed after it", func() bool { return p.Stats().Idle+b.Stats().Idle == 0 })
}
