package debugpage_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/haven-mem/haven/debugpage"
)

// TestFormat goes through testdata/format.json; module test takes static/format.js
// through the same.
func TestFormat(t *testing.T) {
	text, err := os.ReadFile("testdata/format.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases map[string][][]any
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	functions := map[string]func(n []float64) string{
		"bytes":    func(n []float64) string { return debugpage.FormatBytes(uint64(n[0])) },
		"count":    func(n []float64) string { return debugpage.FormatCount(int64(n[0])) },
		"share":    func(n []float64) string { return debugpage.FormatShare(n[0], n[1]) },
		"duration": func(n []float64) string { return debugpage.FormatDuration(time.Duration(n[0])) },
	}
	if len(cases) != len(functions) {
		t.Errorf("cases of %d functions", len(cases))
	}
	for name, list := range cases {
		for _, c := range list {
			var n []float64
			for _, v := range c[:len(c)-1] {
				n = append(n, v.(float64))
			}
			if got, want := functions[name](n), fmt.Sprint(c[len(c)-1]); got != want {
				t.Errorf("%s(%v) is %q, want %q", name, n, got, want)
			}
		}
	}
	for n, want := range map[uint64]string{1<<64 - 1: "16.0 EiB", 1 << 60: "1.0 EiB"} { // more than JavaScript can count
		if got := debugpage.FormatBytes(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}
