package main

import (
	"bytes"
	"runtime"
	"strings"
	"testing"
)

func TestCommands(t *testing.T) {
	for _, tc := range []struct {
		args           []string
		status         int
		stdout, stderr string // parts
	}{
		{nil, 2, "", "no command given; the commands are bench, shape, stress, top, version, help\n"},
		{[]string{"bnech"}, 2, "", `haven: unknown command "bnech"; the commands are bench, shape, stress, top, version, help` + "\n"},
		{[]string{"help"}, 0, "  bench     compare allocators", ""},
		{[]string{"--help"}, 0, "Usage: haven <command>", ""},
		{[]string{"version"}, 0, runtime.Version(), ""},
		{[]string{"version", "x"}, 2, "", `haven version: unexpected argument "x"`},
		{[]string{"bench", "-h"}, 0, "Usage: haven bench [flags]", ""},
		{[]string{"bench", "-fast"}, 2, "", "haven bench: flag provided but not defined: -fast"},
		{[]string{"shape", "string"}, 0, "string", ""},
		{[]string{"stress", "-h"}, 0, "Usage: haven stress [flags]", ""},
		{[]string{"stress", "-mode", "rain"}, 2, "", "there is no mode \"rain\"; accepted: plain, gogc1, "},
		{[]string{"top", "-h"}, 0, "usage: haven top [flags] address", ""},
		{[]string{"top"}, 2, "", "haven top: no address given; accepted: host:port"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(tc.args, strings.NewReader(""), &stdout, &stderr)
		if status != tc.status || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) ||
			(tc.stderr == "") != (stderr.Len() == 0) || strings.Count(stderr.String(), "\n") > 1 {
			t.Errorf("haven %q: status %d, standard output %q, standard error %q", tc.args, status, stdout.String(), stderr.String())
		}
	}
}
