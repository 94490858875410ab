package jsontree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

// standard is the default input, read once for all tests and benchmarks.
var standard = sync.OnceValues(func() ([]byte, error) {
	data, _, err := jsontree.Input("")
	return data, err
})

func standardInput(t testing.TB) []byte {
	t.Helper()
	data, err := standard()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestStandardInput is the conformance test on what the benchmark parses.
func TestStandardInput(t *testing.T) {
	data := standardInput(t)
	agree(t, data)
	n, err := jsontree.ParseStream(jsontree.Heap{}, data)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]bool{}
	for document := n.Child; document != nil; document = document.Next {
		for member := document.Child; member != nil; member = member.Next {
			if member.Key == "ImportPath" {
				packages[member.Text] = true
			}
		}
	}
	for _, name := range []string{"fmt", "runtime", "net/http"} {
		if !packages[name] {
			t.Errorf("package %s is missing among the %d of the default input", name, len(packages))
		}
	}
	// The same packages as one document, as `-in FILE` would have it.
	one := strings.ReplaceAll(strings.TrimSpace(string(data)), "\n}\n{", "\n},\n{")
	agree(t, []byte("["+one+"]"))
}

// TestInputFromAnyDirectory runs go list amid module files and flags that
// would break it.
func TestInputFromAnyDirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.work"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("this is no module file\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// The go command forgives a go.mod in the temporary directory itself, but
	// not one above it.
	tmp := filepath.Join(dir, "tmp")
	if err := os.Mkdir(tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(tmp)
	t.Setenv("TMPDIR", tmp)
	t.Setenv("GOFLAGS", "-mod=vendor -f={{.Dir}}")
	t.Setenv("GOWORK", filepath.Join(dir, "go.work"))
	data, description, err := jsontree.Input("")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(description, "go list -json -deps std of go1.") {
		t.Errorf("description %q", description)
	}
	if _, err := jsontree.ParseStream(jsontree.Heap{}, data); err != nil {
		t.Error(err)
	}
}

// TestInputWithoutGo hides every go command. It does so in a process of its
// own, because the runtime looks at GOROOT only when a process begins.
func TestInputWithoutGo(t *testing.T) {
	const child = "JSONTREE_TEST_WITHOUT_GO"
	if os.Getenv(child) != "" {
		_, _, err := jsontree.Input("")
		fmt.Printf("<%v>\n", err)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	cmd := exec.Command(exe, "-test.run=^TestInputWithoutGo$")
	cmd.Env = append(os.Environ(), child+"=1", "PATH="+empty, "GOROOT="+empty)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	message, _, _ := strings.Cut(string(out), "\n")
	if !strings.HasPrefix(message, "<the default input needs the go command: ") || !strings.HasSuffix(message, "; name a JSON file instead>") {
		t.Errorf("message %s", message)
	}
}

func TestInputFindsGoInGOROOT(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("GOROOT", strings.TrimSpace(string(root)))
	if _, _, err := jsontree.Input(""); err != nil {
		t.Error(err)
	}
}

// TestInputWithBrokenGo puts a go command into PATH that fails as a real one
// would, in one line.
func TestInputWithBrokenGo(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("the fake go command is a shell script")
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	for _, c := range []struct{ end, want string }{
		{"exit 3", "exit status 3: go: cannot do this"},
		{"exit 0", "printed nothing: go: cannot do this"}, // as with a GOROOT that is gone
	} {
		script := "#!/bin/sh\necho 'go: cannot do this' >&2\necho 'second line' >&2\n" + c.end + "\n"
		if err := os.WriteFile(filepath.Join(dir, "go"), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
		_, _, err := jsontree.Input("")
		if err == nil {
			t.Fatal("no error")
		}
		if s := err.Error(); !strings.Contains(s, c.want) || strings.Contains(s, "\n") {
			t.Errorf("error %q, want one line with %q", s, c.want)
		}
	}
}

func TestInputFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write("good.json", `{"a": 1}`)
	data, description, err := jsontree.Input(path)
	if err != nil || string(data) != `{"a": 1}` || description != path+" (8 bytes)" {
		t.Errorf("Input(%q) = %q, %q, %v", path, data, description, err)
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.json"), "missing.json"},
		{dir, filepath.Base(dir)},
		{write("empty.json", ""), "empty.json is empty"},
		{write("blank.json", " \n\t\r\n"), "blank.json holds nothing but white space"},
	} {
		data, _, err := jsontree.Input(c.path)
		if err == nil || data != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Input(%q) = %q, %v, want an error with %q", c.path, data, err, c.want)
		}
	}
}

func TestInputStandardInput(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, wantErr string }{
		{"[1]\n", ""},
		{"", "standard input is empty"},
		{"\n", "standard input holds nothing but white space"},
	} {
		path := filepath.Join(dir, "in")
		if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		stdin := os.Stdin
		os.Stdin = file
		data, description, err := jsontree.Input("-")
		os.Stdin = stdin
		file.Close()
		if c.wantErr == "" {
			if err != nil || string(data) != c.text || description != "standard input (4 bytes)" {
				t.Errorf("Input(\"-\") = %q, %q, %v", data, description, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.wantErr) {
			t.Errorf("Input(\"-\") of %q: %v, want %q", c.text, err, c.wantErr)
		}
	}
}
