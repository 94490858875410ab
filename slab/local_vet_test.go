package slab_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// go vet reports copies of the types that must not be copied, in a program that
// uses the package from outside.
func TestVetReportsCopies(t *testing.T) {
	if testing.Short() {
		t.Skip("runs go vet")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/copies\n\ngo 1.24\n\nrequire github.com/haven-mem/haven v0.0.0\n\n" +
			"replace github.com/haven-mem/haven => " + root + "\n",
		"copies.go": `package copies

import "github.com/haven-mem/haven/slab"

func Local(l *slab.Local[int]) { m := *l; _ = &m }

func Table(t slab.Table[int]) { _ = &t }

func Fine(t *slab.Table[int], h slab.Handle[int]) bool { g := h; return t.Remove(g) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "vet", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("go vet found nothing:\n%s", out)
	}
	for _, want := range []string{"copies.go:5:", "copies.go:7:"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("go vet does not report %s:\n%s", want, out)
		}
	}
	if strings.Contains(string(out), "copies.go:9:") {
		t.Errorf("go vet reports what is fine:\n%s", out)
	}
}
