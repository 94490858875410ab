package misuse_test

import (
	"runtime"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A mode is a way to build and run programs. What finds mistakes in others is off.
type mode struct {
	name string
	here bool // this test was built for it
	env  []string

	faults bool // a fault is a panic, which check.Explain may know
	batch  int  // trials in a process, if not all
	pooled bool // contexts, which share memory, have a process for each trial
	warm   bool // the memory was released once before: an arena's first chunk is not guarded
	paged  bool // objects lie at an end of pages of their own
	stale  bool // look for stale pointers afterwards
}

const (
	noStale = "HAVEN_STALE=0"
	noGuard = "HAVEN_GUARD=0"
)

// plain is set in the build without tags and sanitizers.
const plain = !check.Enabled && !sanitize.Enabled

// running is the mode of a child process.
var running mode

var modes = []mode{
	{name: "default", here: plain, env: []string{noStale, noGuard}, faults: true},
	{name: "race", here: magazine.Race, faults: true, pooled: true, env: []string{noStale, noGuard,
		"GORACE=suppress_equal_stacks=0 suppress_equal_addresses=0 exitcode=0 atexit_sleep_ms=0"}},
	{name: "check", here: check.Enabled && !magazine.Race && !asan, faults: true, stale: true,
		env: []string{"HAVEN_CHECK=", "HAVEN_STALE=1", noGuard}},
	{name: "asan", here: asan, env: []string{noStale, noGuard, "ASAN_OPTIONS=detect_leaks=0:symbolize=0"}},
	{name: "msan", here: sanitize.Memory, env: []string{noStale, noGuard}},
	{name: "guard", here: plain && runtime.GOOS == "linux",
		faults: true, batch: 1 /* there are so many slots */, warm: true, paged: true,
		env: []string{noStale, "HAVEN_GUARD=1,255", "GOMAXPROCS=1"}}, // contexts find the same chunks again
	{name: "stale", here: plain, faults: true, stale: true,
		env: []string{"HAVEN_STALE=1", noGuard}},
}
