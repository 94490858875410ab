package compiled_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestClearPicksBarriers checks GC.md fact 7 in the compiler's assembly: clear
// on a slice with pointers goes through the write barrier's bulk form, clear on
// bytes does not.
func TestClearPicksBarriers(t *testing.T) {
	out, err := compile("-S")
	if err != nil {
		t.Fatalf("go build: %v\n%.2000s", err, out)
	}
	for fn, want := range map[string]string{
		"clearPointers": "runtime.memclrHasPointers",
		"clearBytes":    "runtime.memclrNoHeapPointers",
	} {
		body := assembly(out, fn)
		if body == "" {
			t.Fatalf("no assembly of callsite.%s", fn)
		}
		if !strings.Contains(body, want) {
			t.Errorf("callsite.%s does not call %s:\n%s", fn, want, body)
		}
		for _, other := range []string{"runtime.memclrHasPointers", "runtime.memclrNoHeapPointers"} {
			if other != want && strings.Contains(body, other) {
				t.Errorf("callsite.%s calls %s", fn, other)
			}
		}
	}
}

// assembly returns the listing of one function of package callsite.
func assembly(out, fn string) string {
	_, rest, ok := strings.Cut(out, "callsite."+fn+" STEXT")
	if !ok {
		return ""
	}
	if end := regexp.MustCompile(`(?m)^\S+ STEXT`).FindStringIndex(rest); end != nil {
		rest = rest[:end[0]]
	}
	return rest
}

func readCallsite(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("callsite/callsite.go")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(b), "\n")
}

// lineOf returns the number of the line that starts with prefix.
func lineOf(t *testing.T, source []string, prefix string) int {
	t.Helper()
	for i, line := range source {
		if strings.HasPrefix(line, prefix) {
			return i + 1
		}
	}
	t.Fatalf("callsite.go has no line %q", prefix)
	return 0
}
