package profile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/profile"
	"github.com/haven-mem/haven/internal/testkit"
)

func TestWriter(t *testing.T) {
	var out bytes.Buffer
	w := profile.NewWriter(&out, time.Unix(1, 500), "file",
		profile.Type{Name: "things", Unit: "count"}, profile.Type{Name: "space", Unit: "bytes"})
	w.Sample([]string{"a"}, 1, 10)
	w.Sample([]string{"a", "b", "a", "b"}, 0, -20)
	w.Sample(nil, math.MaxInt64, math.MinInt64)
	w.Sample([]string{"space", "", "x\xff\xfey", "\u2026"}, 127, 128)
	w.Sample([]string{"x\xffy"}, 1<<14-1, 1<<14)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"type things count",
		"type space bytes",
		"mapping 1 file 1111",
		"time 1000000500",
		"default space",
		"a [1 10]",
		"b<a<b<a [0 -20]",
		" [9223372036854775807 -9223372036854775808]",
		"\u2026<x\uFFFDy<<space [127 128]",
		"x\uFFFDy [16383 16384]",
	}
	if got := testkit.ReadProfile(t, out.Bytes()); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Numbers of functions and lengths of samples take more than a byte.
func TestManyFrames(t *testing.T) {
	var out bytes.Buffer
	w := profile.NewWriter(&out, time.Unix(0, 0), "file", profile.Type{Name: "n", Unit: "count"})
	var stack []string
	for i := range 1000 {
		stack = append(stack, fmt.Sprint("f", i))
	}
	w.Sample(stack, 7)
	w.Sample(stack[500:], 8)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	line := func(stack []string, n int) string {
		stack = slices.Clone(stack)
		slices.Reverse(stack)
		return fmt.Sprintf("%s [%d]", strings.Join(stack, "<"), n)
	}
	got := testkit.ReadProfile(t, out.Bytes())
	if want := []string{line(stack, 7), line(stack[500:], 8)}; !slices.Equal(got[len(got)-2:], want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoSamples(t *testing.T) {
	var out bytes.Buffer
	if err := profile.NewWriter(&out, time.Unix(0, 0), "file").Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := testkit.ReadProfile(t, out.Bytes()), []string{"mapping 1 file 1111", "time 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// full is a writer that takes n bytes.
type full struct{ n int }

var errFull = errors.New("full")

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), f.n)
	f.n -= n
	if n < len(b) {
		return n, errFull
	}
	return n, nil
}

// The error of the writer below comes from Close, wherever in the file it was.
func TestError(t *testing.T) {
	for _, n := range []int{0, 5, 100, 1000} {
		w := profile.NewWriter(&full{n}, time.Unix(0, 0), "file", profile.Type{Name: "n", Unit: "count"})
		for i := range 10_000 {
			w.Sample([]string{fmt.Sprint(i * 7919)}, int64(i)*1e15)
		}
		if err := w.Close(); !errors.Is(err, errFull) {
			t.Errorf("%d bytes: %v, want %v", n, err, errFull)
		}
	}
}

func TestWrongValues(t *testing.T) {
	w := profile.NewWriter(io.Discard, time.Unix(0, 0), "file", profile.Type{Name: "n", Unit: "count"})
	testkit.PanicText(t, "profile: a sample with 2 values, want one for each of 1 types", func() { w.Sample(nil, 1, 2) })
}
