package stress

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestFlags checks that a mistake is one line that says what is accepted, and that
// nothing runs.
func TestFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-fast"}, "flag provided but not defined: -fast; the flags are -for DURATION, "},
		{[]string{"now"}, `unexpected argument "now": the command takes flags only`},
		{[]string{"-for", "0s"}, "-for 0s: want a time above 0, such as 90s or 10m"},
		{[]string{"-for", "-3s"}, "-for -3s: want a time above 0"},
		{[]string{"-for", "10"}, `invalid value "10" for flag -for`},
		{[]string{"-ops", "0"}, "-ops 0: want a number of operations, 1 or more"},
		{[]string{"-ops", "many"}, `invalid value "many" for flag -ops`},
		{[]string{"-goroutines", "0"}, "-goroutines 0: want a whole number from 1 to 1024"},
		{[]string{"-goroutines", "1025"}, "-goroutines 1025: want a whole number from 1 to 1024"},
		{[]string{"-seed", "-1"}, `-seed "-1": want a whole number from 0 to 18446744073709551615, or in hexadecimal with 0x`},
		{[]string{"-seed", "18446744073709551616"}, `-seed "18446744073709551616": want a whole number`},
		{[]string{"-seed", ""}, `-seed "": want a whole number`},
		{[]string{"-mode", ""}, `-mode "": there is no mode ""; accepted: plain, gogc1, hammer, clobberfree, checkmark, stw, procs, memlimit, all`},
		{[]string{"-mode", "plain,rain"}, `there is no mode "rain"; accepted: plain, `},
		{[]string{"-json", ""}, `-json "": want the name of a file`},
		{[]string{"-json", t.TempDir()}, "want a file that can be written, or - for standard output"},
		{[]string{"-seed", "1", "-seedfile", "x"}, "-seed and -seedfile both"},
	} {
		var stdout, stderr strings.Builder
		status := Run(c.args, &stdout, &stderr)
		text := stderr.String()
		if status != 2 || stdout.Len() > 0 || !strings.HasPrefix(text, "haven stress: ") || !strings.Contains(text, c.want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%q: status %d, standard output %q, standard error %q; want status 2 and %q", c.args, status, &stdout, text, c.want)
		}
	}
}

// TestSeedFile checks what a seed file may be.
func TestSeedFile(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		content string
		seeds   []uint64 // nil: status 2
		want    string
	}{
		{"1\n", []uint64{1}, ""},
		{"# all that were ever found\n\n 7 # a leak\r\n0xff\n18446744073709551615", []uint64{7, 255, 1<<64 - 1}, ""},
		{"", nil, "has 0 seeds, want 1 to 10000"},
		{"# none\n", nil, "has 0 seeds"},
		{"1\ntwo\n", nil, `seeds.txt:2: "two" is no seed; want a text file with a seed in each line`},
		{"1\n-2\n", nil, `:2: "-2" is no seed`},
		{"1 2\n", nil, `:1: "1 2" is no seed`},
		{"\xff\x00\x01", nil, ":1: "},
		{strings.Repeat("1\n", maxSeeds+1), nil, "has 10001 seeds"},
		{strings.Repeat(" ", maxSeedFile+1), nil, "has more than 1048576 bytes"},
	} {
		name := filepath.Join(dir, "seeds.txt")
		if err := os.WriteFile(name, []byte(c.content), 0o666); err != nil {
			t.Fatal(err)
		}
		o, err := parseOptions([]string{"-seedfile", name})
		switch {
		case c.seeds != nil && (err != nil || !reflect.DeepEqual(o.seeds, c.seeds)):
			t.Errorf("%.40q: %v, %+v, want %d", c.content, err, o, c.seeds)
		case c.seeds == nil && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%.40q: %v, want %q", c.content, err, c.want)
		}
	}
	for _, name := range []string{filepath.Join(dir, "missing"), dir, ""} {
		var stdout, stderr bytes.Buffer
		status := Run([]string{"-seedfile", name}, &stdout, &stderr)
		if status != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "want a text file with a seed in each line: a whole number from 0 to ") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("-seedfile %q: status %d, standard error %q", name, status, &stderr)
		}
	}
}

// TestSeedsAndModes checks that each seed runs in each mode.
func TestSeedsAndModes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "seeds")
	if err := os.WriteFile(name, []byte("3\n4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	status, r := stress(t, "-seedfile", name, "-mode", "plain,procs", "-ops", "40000", "-goroutines", "2")
	var have []Outcome
	for _, run := range r.Runs {
		have = append(have, Outcome{Mode: run.Mode, Seed: run.Seed})
	}
	want := []Outcome{{Mode: "plain", Seed: 3}, {Mode: "plain", Seed: 4}, {Mode: "procs", Seed: 3}, {Mode: "procs", Seed: 4}}
	if status != 0 || !reflect.DeepEqual(have, want) || r.Operations < 40000 {
		t.Errorf("status %d, %+v", status, r)
	}
}

func TestDefaults(t *testing.T) {
	o, err := parseOptions(nil)
	if err != nil || o.duration != defaultFor || o.ops != 0 || len(o.modes) != 1 || o.modes[0].name != "plain" || o.goroutines != 8 || !reflect.DeepEqual(o.seeds, []uint64{1}) {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parseOptions([]string{"-ops", "5"}); err != nil || o.duration != 0 || o.ops != 5 {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = parseOptions([]string{"-mode", "all", "-for", "2m"}); err != nil || len(o.modes) != len(modes) || o.duration != 2*time.Minute {
		t.Errorf("%+v, %v", o, err)
	}
	var stdout, stderr strings.Builder
	if status := Run([]string{"-h"}, &stdout, &stderr); status != 0 || !strings.HasPrefix(stdout.String(), "Usage: haven stress [flags]\n") || stderr.Len() > 0 {
		t.Errorf("-h: status %d, %q, %q", status, &stdout, &stderr)
	}
	for _, m := range modes {
		if !strings.Contains(stdout.String(), "\n  "+m.name) {
			t.Errorf("-h does not name mode %s", m.name)
		}
	}
}
