package gcfacts_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
)

// progress returns how many garbage collections are over, and how many stops of
// the world they had; the first of a collection is its beginning, the last its
// end.
func progress() (over, stops uint64) {
	m := [...]metrics.Sample{
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/sched/pauses/total/gc:seconds"},
	}
	metrics.Read(m[:])
	for _, n := range m[1].Value.Float64Histogram().Counts {
		stops += n
	}
	return m[0].Value.Uint64(), stops
}

// died is for the cleanup of an object: it tells which collection was the last
// that was over when the cleanup ran.
func died(c chan uint64) {
	over, _ := progress()
	c <- over
}

// TestMadeWhileMarking is fact 19: an object that is made while the collector
// marks survives this collection although nothing refers to it, and dies in the
// next one; so the death of any object tells of a collection that began after
// it was made.
func TestMadeWhileMarking(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var live *ring
	for range 300_000 { // a list is marked one by one, which takes long
		live = &ring{live}
	}
	tries, want := 200, 10
	for try := 0; want > 0; try++ {
		if try == tries {
			t.Fatalf("in %d collections too few objects were made while they marked: %d more were wanted", tries, want)
		}
		collect()
		// The end of the last collection may not be counted yet when it is
		// over. This waits for it: only one can stop the world at a time.
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		over, stops := progress()
		_, before := newObject()
		done := make(chan bool)
		go func() {
			runtime.GC()
			done <- true
		}()
		for { // until the collection has begun
			if _, now := progress(); now > stops {
				break
			}
		}
		told := make(chan uint64, 1)
		runtime.AddCleanup(new(ring), died, told)
		_, during := newObject()
		now, _ := progress()
		<-done
		if now != over {
			continue // it was over already
		}
		want--
		alive(t, before, false, "an object from before the collection")
		alive(t, during, true, "an object made while the collector marked")
		select {
		case <-told:
			t.Fatal("the cleanup ran after the collection that marked when its object was made")
		default:
		}
		runtime.GC()
		alive(t, during, false, "an object made while the collector marked, one collection later")
		if last := <-told; last < over+2 {
			t.Errorf("the cleanup ran after collection %d, want %d at the least", last, over+2)
		}
	}
	runtime.KeepAlive(live)
}
