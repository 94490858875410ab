package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"path/filepath"
	"testing"
)

// TestUpToDate checks that what is committed is what the results say.
func TestUpToDate(t *testing.T) {
	root := filepath.Join("..", "..")
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := read(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil || got != string(want) {
			t.Errorf("%s is not what the results say (%v): go run ./bench/page writes it", name, err)
		}
	}
}

const sample = `# haven bench, go1.99

| | |
|---|---|
| Machine | a machine |
| Haven | commit 1 |

## Targets

| work | variant | target | measured | |
|---|---|---|--:|---|
| pair | pool | time ≤ 30.0 ns/op | 20.0 ns/op | met |
| pair | pool | GC CPU ≥ 3× less than sync.Pool | 9× | met |
| pair | pool | not slower than sync.Pool | 0.91× | met by the interval |

## pair

Some text.

| variant | ns/op | ± | against new | walk |
|---|--:|--:|---|--:|
| new | 30.0 | ±1% | 1× | 2.00 µs |
| sync.Pool | 18.0 | ±1% | 1.67× faster [1.5–2.0] | n/a |
| pool | 20.0 | ±1% | 1.50× faster [1.4–1.6] | 500 ns |
| slow | 60.0 | ±1% | 2.0× slower [1.25–4.0] | 4.00 µs |
| same | 25.0 | ±1% | no clear difference [0.9–1.3] | 2.00 µs |
| once | 60.0 | ? | 2.0× slower [?] | |

## parse

| variant | MB/s | ± | against new |
|---|--:|--:|---|
| new | 100 | ±1% | 1× |
| arena | 80 | ±1% | no clear difference [0.7–1.1] |
`

func TestCompare(t *testing.T) {
	r, err := parseRun("go1.99", sample)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		x    row
		want ratio
		text string
	}{
		{row{"", "pair", "pool", "new", "time"}, ratio{1.5, 1.4, 1.6}, "1.50× faster"},
		{row{"", "pair", "slow", "new", "time"}, ratio{0.5, 0.25, 0.8}, "**2.0× slower**"},
		{row{"", "pair", "same", "new", "time"}, ratio{1.2, 0.9, 1.3}, "no difference"},
		{row{"", "pair", "once", "new", "time"}, ratio{mid: 0.5}, "**2.0× slower**"},
		{row{"", "pair", "pool", "sync.Pool", "time"}, ratio{mid: 0.91}, "**1.10× slower**"},
		{row{"", "pair", "slow", "sync.Pool", "time"}, ratio{mid: 0.3}, "**3.3× slower**"},
		{row{"", "pair", "pool", "new", "walk"}, ratio{mid: 4}, "4.0× less"},
		{row{"", "pair", "slow", "new", "walk"}, ratio{mid: 0.5}, "**2.0× more**"},
		{row{"", "pair", "pool", "sync.Pool", "walk"}, ratio{}, "–"},
		{row{"", "parse", "arena", "new", "time"}, ratio{0.8, 0.7, 1.1}, "no difference"},
		{row{"", "gone", "arena", "new", "time"}, ratio{}, "–"},
	} {
		got, _ := r.compare(tc.x)
		if near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }; !near(got.mid, tc.want.mid) ||
			!near(got.lo, tc.want.lo) || !near(got.hi, tc.want.hi) || r.verdict(tc.x) != tc.text {
			t.Errorf("%+v: %+v, %s, want %+v, %s", tc.x, got, r.verdict(tc.x), tc.want, tc.text)
		}
	}
	for verdict, want := range map[string]string{"met": "✓", "met by the interval": "≈", "**missed**": "✗ **missed**", "not measured": "not measured"} {
		if got := marked(verdict); got != want {
			t.Errorf("%s: %s, want %s", verdict, got, want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "| Haven | x |\n\n## work\n\nno table\n"} {
		if _, err := parseRun("go1.99", text); err == nil {
			t.Errorf("%q is taken for results", text)
		}
	}
}

// The picture is XML, loads nothing, and has a bar for each ratio.
func TestPicture(t *testing.T) {
	runs, err := load(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	r := runs[0]
	want := 1 // the ground
	for _, work := range drawn {
		want += len(present(r, work))
	}
	picture := draw(r)
	dec, bars := xml.NewDecoder(bytes.NewReader(picture)), 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "rect" {
			bars++
		}
	}
	if bars != want || bytes.Contains(picture, []byte("NaN")) || bytes.Contains(picture, []byte("href")) {
		t.Errorf("%d rectangles, want %d:\n%s", bars, want, picture)
	}
}
