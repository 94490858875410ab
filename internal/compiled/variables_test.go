package compiled_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestVariables checks that the default build has no large variables: each collection
// reads all those with pointers, in any program that imports Haven, used or not.
func TestVariables(t *testing.T) {
	const most = 64 << 10
	exe := filepath.Join(t.TempDir(), "all.test")
	if out, err := exec.Command("go", "test", "-c", "-o", exe, "../misuse").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%.2000s", err, out)
	}
	out, err := exec.Command("go", "tool", "nm", "-size", "-sort", "size", exe).Output()
	if err != nil {
		t.Fatal("go tool nm: ", err)
	}
	found, sum := 0, 0
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line) // address, size, kind, name
		if len(f) != 4 || !strings.HasPrefix(f[3], module) || !strings.Contains("bBdD", f[2]) {
			continue
		}
		n, err := strconv.Atoi(f[1])
		if err != nil {
			t.Fatal(line)
		}
		found++
		sum += n
		if sum > most {
			t.Errorf("%s has %d bytes, which makes %d of variables, want at most %d", f[3], n, sum, most)
			break
		}
	}
	if found < 10 {
		t.Errorf("%d variables in %s", found, exe)
	}
}
