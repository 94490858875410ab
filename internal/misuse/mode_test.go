package misuse_test

import (
	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
)

// A mode is a way to build and run programs. What finds mistakes in others is off.
type mode struct {
	name string
	here bool // this test was built for it
	env  []string

	faults  bool // a fault is a panic, which check.Explain may know
	apart   bool // each trial in a process of its own: what is in use has a slot of the guard
	escapes bool // look for escapes afterwards
}

const (
	noEscapes = "HAVEN_ESCAPES=0"
	noGuard   = "HAVEN_GUARD=0"
)

var modes = []mode{
	{name: "default", here: !check.Enabled && !magazine.Race && !asan, env: []string{noEscapes, noGuard}, faults: true},
	{name: "race", here: magazine.Race, faults: true, env: []string{noEscapes, noGuard,
		"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0"}},
	{name: "check", here: check.Enabled && !magazine.Race && !asan, faults: true, escapes: true,
		env: []string{"HAVEN_CHECK=", "HAVEN_ESCAPES=1", noGuard}},
	{name: "asan", here: asan, env: []string{noEscapes, noGuard, "ASAN_OPTIONS=detect_leaks=0"}},
	{name: "guard", here: !check.Enabled && !magazine.Race && !asan, faults: true, apart: true, env: []string{noEscapes, "HAVEN_GUARD=1,255"}},
	{name: "escapes", here: !check.Enabled && !magazine.Race && !asan, faults: true, escapes: true,
		env: []string{"HAVEN_ESCAPES=1", noGuard}},
}
