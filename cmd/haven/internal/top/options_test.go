package top

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"6060":                                 "http://localhost:6060/debug/haven/stats.json",
		":6060":                                "http://localhost:6060/debug/haven/stats.json",
		"host:80":                              "http://host:80/debug/haven/stats.json",
		"[::1]:6060":                           "http://[::1]:6060/debug/haven/stats.json",
		"host:80/debug/haven/":                 "http://host:80/debug/haven/stats.json",
		"http://host":                          "http://host/debug/haven/stats.json",
		"http://host:1/":                       "http://host:1/debug/haven/stats.json",
		"https://host/debug/haven":             "https://host/debug/haven/stats.json",
		"https://host/debug/haven/":            "https://host/debug/haven/stats.json",
		"https://host/debug/haven/stats.json":  "https://host/debug/haven/stats.json",
		"https://host/admin/memory/?key=1#x":   "https://host/admin/memory/stats.json?key=1",
		"https://user:secret@host/admin/haven": "https://user:secret@host/admin/haven/stats.json",
	} {
		u, err := statsURL(address)
		if err != nil || u.String() != want {
			t.Errorf("%q: %v, %v; want %s", address, u, err, want)
		}
	}
}

func TestBadInput(t *testing.T) {
	for _, tc := range []struct {
		args  string
		parts []string // of the message
	}{
		{"", []string{"no address given", acceptedAddress}},
		{"host", []string{`address "host": no port`, acceptedAddress}},
		{"host:", []string{"no port"}},
		{"https://host:", []string{"no port"}},
		{"host:http", []string{`address "host:http":`, acceptedAddress}},
		{"0", []string{"port 0 is not from 1 to 65535"}},
		{"65536", []string{"port 65536 is not from 1 to 65535"}},
		{"99999999999999999999", []string{"is not from 1 to 65535"}},
		{"ftp://host:1", []string{`scheme "ftp"`, acceptedAddress}},
		{"http://", []string{"no host"}},
		{"http://:6060", []string{"no host"}},
		{"::1", []string{"wants brackets", acceptedAddress}},
		{"http://fe80::1:6060", []string{"wants brackets"}},
		{"http://user:secret@host:x", []string{"invalid port"}},
		{"1 2", []string{`unexpected argument "2"`, "accepted: one address"}},
		{"1 -fast", []string{"-fast", acceptedFlags}},
		{"-view forest 1", []string{`-view "forest"`, "accepted: tree, contexts, names, limits, caches, pools, leaks"}},
		{"-sort colour 1", []string{`-sort "colour": view tree has no such key; accepted: bytes, own, high, chunks, age, name`}},
		{"-view pools -sort age 1", []string{`-sort "age": view pools`, "accepted: bytes, idle, inuse, misses, dropped, name"}},
		{"-sort= 1", []string{`-sort ""`, "accepted: bytes"}},
		{"1 -n -1", []string{"-n -1", "accepted: 0 for what fits"}},
		{"1 -n many", []string{"-n", acceptedFlags}},
		{"1 -interval 99ms", []string{"-interval 99ms", "accepted: 100ms or more"}},
		{"1 -interval 1", []string{"-interval", acceptedFlags}},
		{"1 -once -interval 1s", []string{"-once and -interval"}},
		{"1 -json -view pools", []string{"-view", "-json"}},
		{"1 -json -n 5", []string{"-n", "-json"}},
	} {
		var stdout, stderr bytes.Buffer
		status := Run(strings.Fields(tc.args), strings.NewReader(""), &stdout, &stderr)
		message := stderr.String()
		if status != 2 || stdout.Len() > 0 || !strings.HasPrefix(message, "haven top: ") || strings.Count(message, "\n") != 1 {
			t.Errorf("%s: status %d, standard output %q, standard error %q", tc.args, status, stdout.String(), message)
		}
		for _, part := range tc.parts {
			if !strings.Contains(message, part) {
				t.Errorf("%s: %q does not say %q", tc.args, message, part)
			}
		}
		if strings.Contains(tc.args, "secret") && !strings.Contains(message, acceptedAddress) {
			t.Errorf("%s: %q", tc.args, message)
		}
	}
}

func TestOptions(t *testing.T) {
	o, err := parseArgs(strings.Fields("-view pools :1 -sort idle -n 7 -interval 100ms"))
	if err != nil || o.view != poolsView || o.sort != "idle" || o.rows != 7 || o.interval != 100*time.Millisecond || !o.repeat || o.once || o.json {
		t.Errorf("%+v, %v", o, err)
	}
	o, err = parseArgs(strings.Fields("-once 1 -json -view limits"))
	if err == nil {
		t.Errorf("%+v", o)
	}
	o, err = parseArgs(strings.Fields("-once 1 -view limits"))
	if err != nil || o.view != limitsView || o.sort != "full" || o.rows != 0 || o.interval != time.Second || o.repeat || !o.once {
		t.Errorf("%+v, %v", o, err)
	}
	var stdout, stderr bytes.Buffer
	if status := Run([]string{"-h"}, strings.NewReader(""), &stdout, &stderr); status != 0 || stdout.String() != usage || stderr.Len() > 0 {
		t.Errorf("-h: status %d, %q, %q", status, stdout.String(), stderr.String())
	}
}
