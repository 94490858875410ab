package check

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// settings are what HAVEN_CHECK chooses.
type settings struct {
	poison     bool
	redzone    bool
	stacks     bool
	depth      int      // frames
	quarantine int      // bytes
	names      []string // patterns; none: all
}

// accepted is what HAVEN_CHECK=help prints, and the end of each complaint.
const accepted = `HAVEN_CHECK=WORDS[:PATTERNS], in programs built with -tags haven_check. WORDS, separated by commas:
  poison           fill what was released, so that stale pointers show
  redzone          8 bytes before and behind each allocation in untyped memory, to find overruns
  stacks           six frames of each allocation and release; stacks=deep: 24
  quarantine=SIZE  bytes that wait before they are used again: 64MB, 1GB, 0
  none             nothing
Without WORDS all are on, with a quarantine of 64MB. PATTERNS, separated by commas, choose arenas, caches,
pools and contexts by name, as path.Match does: request*,orders. Untyped arenas have the name "".
`

// set is what holds. It is read without a lock: it changes before main, and in
// tests that run alone.
var set = initial()

func all() settings {
	return settings{poison: true, redzone: true, stacks: true, depth: shallow, quarantine: 64 << 20}
}

func initial() settings {
	if !Enabled {
		return settings{}
	}
	s, err := parse(os.Getenv("HAVEN_CHECK"))
	switch {
	case errors.Is(err, errHelp):
		fmt.Fprint(os.Stderr, accepted)
	case err != nil:
		fmt.Fprintf(os.Stderr, "haven: HAVEN_CHECK: %v: accepted are poison, redzone, stacks, stacks=deep, quarantine=SIZE, none, help, and name patterns behind a colon\n", err)
	}
	return s
}

var errHelp = errors.New("help")

// parse reads the words it knows. The error is about the first of the others.
func parse(text string) (s settings, err error) {
	words, names, scoped := strings.Cut(text, ":")
	if strings.TrimSpace(words) == "" {
		s = all()
	} else {
		s = settings{depth: shallow}
	}
	complain := func(format string, args ...any) {
		if err == nil {
			err = fmt.Errorf(format, args...)
		}
	}
	bounded := false
	for _, w := range strings.Split(words, ",") {
		word, value, valued := strings.Cut(strings.TrimSpace(w), "=")
		switch {
		case word == "quarantine" && valued:
			if n, e := parseSize(value); e != nil {
				complain("quarantine=%s: %w", value, e)
			} else {
				s.quarantine, bounded = n, true
			}
		case word == "stacks" && (!valued || value == "deep"):
			s.stacks = true
			if valued {
				s.depth = deep
			}
		case valued:
			complain("unknown word %q", w)
		case word == "poison":
			s.poison = true
		case word == "redzone":
			s.redzone = true
		case word == "help":
			s, err = all(), errHelp
			return s, err
		case word != "" && word != "none":
			complain("unknown word %q", w)
		}
	}
	if s.poison && !bounded {
		s.quarantine = all().quarantine
	}
	if scoped {
		for _, p := range strings.Split(names, ",") {
			if _, e := path.Match(p, ""); e != nil || p == "" {
				complain("pattern %q: want one as path.Match has it", p)
				continue
			}
			s.names = append(s.names, p)
		}
	}
	return s, err
}

// parseSize reads a number of bytes with a unit of 1024s.
func parseSize(text string) (int, error) {
	number := strings.TrimRight(text, "KMGB")
	shift, ok := map[string]uint{"": 0, "B": 0, "K": 10, "KB": 10, "M": 20, "MB": 20, "G": 30, "GB": 30}[text[len(number):]]
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || !ok || n<<shift > 1<<40 || n<<shift > math.MaxInt {
		return 0, errors.New("want a number of bytes up to 1024GB, with K, M or G")
	}
	return int(n << shift), nil
}

// Poisons reports whether what the memory of that name releases is poisoned.
func Poisons(name string) bool { return set.poison && set.chooses(name) }

func (s *settings) chooses(name string) bool {
	if len(s.names) == 0 {
		return true
	}
	for _, p := range s.names {
		if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// SetQuarantine sets how many bytes wait, in place of HAVEN_CHECK. It is for
// functions init of tests, of what happens when memory has waited.
func SetQuarantine(bytes int) { set.quarantine = bytes }
