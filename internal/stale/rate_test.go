package stale_test

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
)

// sampleEvery sets the rate for a test.
func sampleEvery(t *testing.T, n uint32) {
	stale.SampleEvery(n)
	t.Cleanup(func() { stale.SampleEvery(0) })
}

// What is larger than a MiB is watched as much less often.
func TestAffords(t *testing.T) {
	const n = 100_000
	sampleEvery(t, 1024)
	for bytes, want := range map[int]float64{0: n, 100: n, 1 << 20: n, 2 << 20: n / 2, 64 << 20: n / 64.0} {
		got := 0
		for range n {
			if stale.Affords(bytes) {
				got++
			}
		}
		if d := math.Abs(float64(got) - want); d > 6*math.Sqrt(want*(1-want/n)) {
			t.Errorf("%d bytes: %d of %d, want about %.0f", bytes, got, n, want)
		}
	}
	sampleEvery(t, 1)
	for range 1000 {
		if !stale.Affords(1 << 30) {
			t.Fatal("one of all is left out")
		}
	}
}

// While All holds each release is watched, and afterwards as many as before.
func TestAll(t *testing.T) {
	sampleEvery(t, math.MaxUint32)
	announced := 0
	stale.OnAll(func() { announced++ })
	for range 2 {
		if stale.Each() || stale.Every() != math.MaxUint32 {
			t.Fatal("each")
		}
		end, inner := stale.All(), stale.All()
		inner()
		if !stale.Each() || stale.Every() != 1 {
			t.Fatal("not each")
		}
		end()
	}
	if announced != 8 {
		t.Errorf("%d changes are announced, want 8", announced)
	}
}

// Draw draws of many releases at one time.
func TestDraw(t *testing.T) {
	sampleEvery(t, 100)
	for n, want := range map[uint64][2]int{0: {0, 0}, 10: {820, 1180}, 100: {10000, 10000}, 1 << 40: {10000, 10000}} {
		got := 0
		for range 10000 {
			if stale.Draw(n) {
				got++
			}
		}
		if got < want[0] || got > want[1] {
			t.Errorf("of %d releases 1 in 100: %d of 10000 times, want %v", n, got, want)
		}
	}
	stale.SampleEvery(0)
	if stale.Draw(math.MaxUint64) {
		t.Error("drawn of none")
	}
}

// The environment sets the rate. What it cannot read is one line on standard error,
// and as if it were not set.
func TestVariable(t *testing.T) {
	if testkit.InChild(t) {
		fmt.Println("every", stale.AtStart)
		return
	}
	usual := int64(1024)
	if check.Enabled {
		usual = 1
	}
	for value, want := range map[string]int64{
		"0": 0, "1": 1, "64": 64, "4294967295": math.MaxUint32,
		"": -1, "-1": -1, "64x": -1, "4294967296": -1, "1e3": -1, "unset": usual,
	} {
		env := stale.Variable + "=" + value
		if value == "unset" {
			os.Unsetenv(stale.Variable)
			env = "HAVEN_NOTHING=1"
		}
		out, err := testkit.Child(t, env)
		if err != nil {
			t.Fatal(err, out)
		}
		line := fmt.Sprintf("haven: HAVEN_STALE=%q: want 0 for none, 1 for all, or one release in how many is watched; using %d\n", value, usual)
		if got := strings.Contains(out, line); got != (want < 0) || strings.Count(out, "haven: ") != strings.Count(out, line) {
			t.Errorf("%s: %s", value, out)
		}
		if want < 0 {
			want = usual
		}
		if !strings.Contains(out, fmt.Sprintf("every %d\n", want)) {
			t.Errorf("%s: want %d: %s", value, want, out)
		}
	}
}
