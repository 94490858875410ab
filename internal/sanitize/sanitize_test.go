package sanitize_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/sanitize"
)

// The tests make each mistake with each kind of memory in a process of its own, a
// program that is built as the test is. That it ends well is the failure.

const source = "testdata/mistakes/main.go"

// mode is the flag that this test was built with.
func mode() string {
	switch {
	case sanitize.Address:
		return "-asan"
	case sanitize.Memory:
		return "-msan"
	case sanitize.Race:
		return "-race"
	}
	return ""
}

var dir string

func TestMain(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "mistakes"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var program = sync.OnceValues(func() (string, error) {
	exe := filepath.Join(dir, "mistakes")
	out, err := exec.Command("go", "build", mode(), "-o", exe, "./"+filepath.Dir(source)).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build %s: %v\n%s", mode(), err, out)
	}
	return exe, nil
})

// kinds returns the kinds of memory, with the deeds that only some have.
func kinds(t *testing.T) map[string]string {
	t.Helper()
	if mode() == "" {
		t.Skip("built without a sanitizer")
	}
	exe, err := program()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		name, deeds, _ := strings.Cut(line, ":")
		list[name] = deeds
	}
	return list
}

// child does a deed in another process, and returns what it printed.
func child(kind string, size int, deed string) (string, error) {
	exe, err := program()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(exe, kind, fmt.Sprint(size), deed)
	cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1 atexit_sleep_ms=0", "ASAN_OPTIONS=detect_leaks=0")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// line returns the line of the program that a report has to name.
func line(t *testing.T, deed string) string {
	t.Helper()
	text, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range strings.Split(string(text), "\n") {
		if strings.HasSuffix(s, "// fault: "+deed) {
			return fmt.Sprintf("main.go:%d", i+1)
		}
	}
	t.Fatalf("%s has no line for %q", source, deed)
	return ""
}

func sizes() []int {
	if testing.Short() {
		return []int{24}
	}
	return []int{1, 24, 4096}
}

// reported checks that a mistake is found, by what it says, and where.
func reported(t *testing.T, kind, deed, at, says string) {
	for _, size := range sizes() {
		if sanitize.Memory && strings.HasPrefix(kind, "arena.") && deed == "past1" && size == 4096 {
			continue // it fills its chunk, behind which there is another object of the heap
		}
		t.Run(fmt.Sprintf("%s/%d/%s", kind, size, deed), func(t *testing.T) {
			t.Parallel()
			out, err := child(kind, size, deed)
			if err == nil || !strings.Contains(out, says) || !strings.Contains(out, at) {
				t.Errorf("want %q at %s: %v\n%s", says, at, err, out)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	all := kinds(t)
	says, deeds := "", []string(nil)
	switch {
	case sanitize.Address:
		says = "ERROR: AddressSanitizer: use-after-poison"
		deeds = []string{"read", "read last", "write"}
		if !testing.Short() {
			deeds = append(deeds, "read after collection")
		}
	case sanitize.Memory:
		says = "WARNING: MemorySanitizer: use-of-uninitialized-value"
		deeds = []string{"read", "read last"}
	default:
		t.Skip("these are for -asan and -msan")
	}
	for kind, more := range all {
		for _, deed := range deeds {
			at := line(t, deed)
			if sanitize.Memory {
				at = "" // its reports have no stack
			}
			reported(t, kind, deed, at, says)
		}
		for _, deed := range strings.Fields(more) {
			if sanitize.Memory && deed == "past8" {
				continue // which writes
			}
			at := line(t, deed)
			if sanitize.Memory && deed != "twice" {
				at = ""
			}
			reported(t, kind, deed, at, says)
		}
	}
}

// A reader on another goroutine that nothing orders is a race, before the release or
// after it.
func TestReader(t *testing.T) {
	all := kinds(t)
	if !sanitize.Race {
		t.Skip("this is for -race")
	}
	for kind := range all {
		for _, deed := range []string{"reader before", "reader after"} {
			reported(t, kind, deed, line(t, "reader"), "WARNING: DATA RACE")
		}
	}
}

// What is done rightly is not reported.
func TestRight(t *testing.T) {
	for kind := range kinds(t) {
		for _, size := range sizes() {
			for _, deed := range []string{"right", "reader in order"} {
				t.Run(fmt.Sprintf("%s/%d/%s", kind, size, deed), func(t *testing.T) {
					t.Parallel()
					if out, err := child(kind, size, deed); err != nil {
						t.Errorf("%v\n%s", err, out)
					}
				})
			}
		}
	}
}

// What was in memory that ended without being taken back stays, and another goroutine
// may read it meanwhile.
func TestKept(t *testing.T) {
	kinds(t)
	for _, kind := range []string{"arena.Free", "bump.Free", "memctx.Abandon"} {
		if out, err := child(kind, 24, "kept"); err != nil {
			t.Errorf("%s: %v\n%s", kind, err, out)
		}
	}
}
