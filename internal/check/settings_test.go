package check

import (
	"reflect"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		text string
		want settings
		bad  string // in the error
	}{
		{"", all(), ""},
		{"poison", settings{poison: true, depth: shallow, quarantine: 64 * mb}, ""},
		{"poison,quarantine=0", settings{poison: true, depth: shallow}, ""},
		{" stacks=deep , redzone ", settings{redzone: true, stacks: true, depth: deep}, ""},
		{"none", settings{depth: shallow}, ""},
		{"poison,quarantine=256MB:request*,orders", settings{poison: true, depth: shallow, quarantine: 256 * mb, names: []string{"request*", "orders"}}, ""},
		{":orders", settings{poison: true, redzone: true, stacks: true, depth: shallow, quarantine: 64 * mb, names: []string{"orders"}}, ""},
		{"help", all(), "help"},
		{"poisson,stacks", settings{stacks: true, depth: shallow}, `unknown word "poisson"`},
		{"poison=yes", settings{depth: shallow}, `unknown word "poison=yes"`},
		{"stacks=7", settings{depth: shallow}, `unknown word "stacks=7"`},
		{"quarantine", settings{depth: shallow}, `unknown word "quarantine"`},
		{"poison,quarantine=-1", settings{poison: true, depth: shallow, quarantine: 64 * mb}, "quarantine=-1: want a number of bytes"},
		{"quarantine=1XB", settings{depth: shallow}, "quarantine=1XB"},
		{"quarantine=2000GB", settings{depth: shallow}, "quarantine=2000GB"},
		{"quarantine=99999999999999999999", settings{depth: shallow}, "quarantine=9999"},
		{"poison:[", settings{poison: true, depth: shallow, quarantine: 64 * mb}, `pattern "["`},
		{"poison:a,,b", settings{poison: true, depth: shallow, quarantine: 64 * mb, names: []string{"a", "b"}}, `pattern ""`},
	} {
		got, err := parse(c.text)
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q is %+v, want %+v", c.text, got, c.want)
		}
		if (err != nil) != (c.bad != "") || err != nil && !strings.Contains(err.Error(), c.bad) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.bad)
		}
	}
}

func TestChooses(t *testing.T) {
	s := settings{names: []string{"request*", "orders"}}
	for name, want := range map[string]bool{"request": true, "request 7": true, "orders": true, "orders2": false, "": false} {
		if got := s.chooses(name); got != want {
			t.Errorf("%q is chosen: %v", name, got)
		}
	}
	if !new(settings).chooses("") {
		t.Error("without patterns not all are chosen")
	}
}
