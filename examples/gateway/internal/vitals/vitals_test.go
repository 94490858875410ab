package vitals_test

import (
	"runtime"
	"testing"

	"github.com/haven-mem/haven/examples/gateway/internal/vitals"
)

var sink []byte

// TestSince does some work and looks for it in the numbers.
func TestSince(t *testing.T) {
	before := vitals.Read()
	for range 3 {
		sink = make([]byte, 64<<20)
		for i := 0; i < len(sink); i += 4096 { // each page
			sink[i]++
		}
		runtime.GC()
	}
	v := vitals.Read().Since(before)
	if v.GCs < 3 || v.GCCPU <= 0 || v.CPU <= 0 {
		t.Errorf("after three collections: %+v", v)
	}
	if v.Live < 64<<20 || v.RSS < 64<<20 || v.PeakRSS < v.RSS {
		t.Errorf("with 64 MiB in use: %+v", v)
	}
	sink = nil
}
