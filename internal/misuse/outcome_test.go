package misuse_test

import (
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// An outcome is what a mode said of a mistake.
type outcome struct {
	when string // "at once", "later" or "no"; "-" where the mistake cannot be made
	how  string // what found it
}

func (o outcome) String() string {
	if o.how == "" {
		return o.when
	}
	return o.when + ": " + o.how
}

var (
	toldLine = regexp.MustCompile(`(?m)^@ told (.*)$`)
	siteLine = regexp.MustCompile(`(?m)^@ line (\w+) (\S+)$`)
)

// outcomeOf reads what a child process printed of a trial.
func (m mode) outcomeOf(t *trial, x made) outcome {
	now, later, _ := strings.Cut(x.text, mark+"later\n")
	_, now, _ = strings.Cut(now, mark+"now\n")
	crashed := x.died && later == "" && !t.chance()
	o := outcome{"at once", found(now, crashed)}
	text := now
	if o.how == "" || o.how == "zero" {
		if how := found(later, x.died && later != ""); how != "" {
			o, text = outcome{"later", how}, later
		}
	}
	lines := []string{"allocated"} // that must be named
	if strings.Contains(text, "\nreleased at\n") {
		if lines = append(lines, "released"); m.paged {
			lines = lines[1:] // a chunk was allocated where its arena was, if that is known
		}
	}
	switch o.how {
	case "":
		if strings.Contains(x.text, mark+"alone\n") {
			return outcome{"-", ""}
		}
		return outcome{"no", ""}
	case "zero":
		if slices.Contains(stale, t.scenario) {
			return outcome{"no", "zero"} // chance: another value would not have panicked
		}
		return outcome{o.when, "panic"}
	case "panic", "refused", "crash", "msan": // whose reports have no stack
		return o
	case "race":
		lines = []string{"bad"}
	case "asan":
		lines, text = []string{"bad"}, text+lineOf(text)+"\n"
	case "stale pointer":
		lines = []string{"released"}
	}
	for _, line := range lines {
		known, told := false, false
		for _, s := range siteLine.FindAllStringSubmatch(x.text, -1) {
			known = known || s[1] == line
			told = told || s[1] == line && named(text, s[2])
		}
		if known && !told {
			o.how += ", without the line"
			break
		}
	}
	return o
}

// named reports whether a text has a line of a file that is not another's.
func named(text, line string) bool {
	for _, rest := range strings.Split(text, line)[1:] {
		if rest == "" || rest[0] < '0' || rest[0] > '9' {
			return true
		}
	}
	return false
}

// found returns who said something in the output, the first that is no panic of
// Go's because something is zero.
func found(text string, died bool) (how string) {
	if strings.Contains(text, "WARNING: DATA RACE") {
		return "race"
	}
	for _, s := range toldLine.FindAllStringSubmatch(text, -1) {
		if how == "" || how == "zero" {
			how = s[1]
		}
	}
	if how != "" && how != "zero" {
		return how
	}
	if strings.Contains(text, "AddressSanitizer") {
		return "asan"
	}
	if strings.Contains(text, "MemorySanitizer") {
		return "msan"
	}
	if died {
		return "crash"
	}
	return how
}

var frameLine = regexp.MustCompile(`#0 0x([0-9a-f]+)`)

// lineOf returns the line of the access that the address sanitizer reports, which has
// only the address: this process is the same program.
func lineOf(text string) string {
	s := frameLine.FindStringSubmatch(text)
	if s == nil {
		return ""
	}
	pc, _ := strconv.ParseUint(s[1], 16, 64)
	f, _ := runtime.CallersFrames([]uintptr{uintptr(pc) + 1}).Next()
	return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
}
