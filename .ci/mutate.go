// The program of .ci/mutate, which says what it does.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	table = ".ci/mutations"
	limit = time.Minute // for the tests of a package, which take some seconds
	most  = 12 << 20    // KiB of address space for them, as a mistake may take all there is
)

// A mutation is a mistake to put into the code.
type mutation struct {
	at         string // where in the table it is
	name, file string
	what       string
	tests      []string // arguments of go test
	known      string   // why no test can find it, if so
	old, new   []string // lines
}

func main() {
	list := flag.Bool("l", false, "list the mutations")
	flag.Parse()
	if err := run(*list, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(list bool, patterns []string) error {
	all, err := readTable()
	if err != nil {
		return err
	}
	if err := check(all); err != nil {
		return err
	}
	for _, p := range patterns {
		re, err := regexp.Compile("^(?:" + p + ")$")
		if err != nil {
			return err
		}
		all = slices.DeleteFunc(all, func(m mutation) bool { return !re.MatchString(m.name) })
	}
	if len(all) == 0 {
		return fmt.Errorf("no mutation is called %s; see -l", strings.Join(patterns, " and "))
	}
	if list {
		for _, m := range all {
			fmt.Printf("%-34s %-28s %s\n", m.name, m.file, m.what)
		}
		fmt.Println(len(all), "mutations")
		return nil
	}
	dir, err := os.MkdirTemp("", "haven-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t := tree{dir}
	if err := t.copy(); err != nil {
		return err
	}
	return t.runAll(all)
}

// readTable reads the mutations.
func readTable() ([]mutation, error) {
	files, err := filepath.Glob(table + "/*.txt")
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, errors.New("there is no table in " + table)
	}
	var all []mutation
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(text), "\n") {
			at := fmt.Sprintf("%s:%d", f, i+1)
			if head, ok := strings.CutPrefix(line, "== "); ok {
				name, file, ok := strings.Cut(head, " ")
				if !ok {
					return nil, fmt.Errorf("%s: want == name file", at)
				}
				all = append(all, mutation{at: at, name: name, file: file})
				continue
			}
			if line == "" || line[0] == '#' {
				continue
			}
			if len(all) == 0 {
				return nil, fmt.Errorf("%s: %q is not part of a mutation", at, line)
			}
			all[len(all)-1].read(line)
		}
	}
	return all, nil
}

// read takes in a line of a mutation behind the first one.
func (m *mutation) read(line string) {
	switch body := line[1:]; line[0] {
	case ' ':
		m.old = append(m.old, body)
		m.new = append(m.new, body)
		return
	case '-':
		m.old = append(m.old, body)
		return
	case '+':
		m.new = append(m.new, body)
		return
	}
	if args, ok := strings.CutPrefix(line, "test: "); ok {
		m.tests = append(m.tests, args)
	} else if why, ok := strings.CutPrefix(line, "known: "); ok {
		m.known = why
	} else {
		m.what = strings.TrimSpace(m.what + " " + line)
	}
}

// check completes the mutations and returns what is wrong with them.
func check(all []mutation) error {
	var wrong []error
	seen := map[string]bool{}
	for i := range all {
		m := &all[i]
		if m.tests == nil {
			m.tests = []string{"./" + filepath.Dir(m.file)}
		}
		bad := func(format string, args ...any) {
			wrong = append(wrong, fmt.Errorf("%s: %s: %s", m.at, m.name, fmt.Sprintf(format, args...)))
		}
		if seen[m.name] {
			bad("there are two of this name")
		}
		seen[m.name] = true
		if m.what == "" || m.old == nil || slices.Equal(m.old, m.new) {
			bad("want a sentence, and lines that change")
		}
		if _, err := m.mutated("."); err != nil {
			bad("%v", err)
		}
	}
	return errors.Join(wrong...)
}

// mutated returns the text of the mutation's file in a tree with the mutation.
func (m *mutation) mutated(dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, m.file))
	if err != nil {
		return "", err
	}
	lines := strings.Split(string(data), "\n")
	var at []int
	for i := 0; i+len(m.old) <= len(lines); i++ {
		if slices.EqualFunc(lines[i:i+len(m.old)], m.old, same) {
			at = append(at, i)
		}
	}
	if len(at) != 1 {
		return "", fmt.Errorf("%s has these lines %d times, want once:\n%s", m.file, len(at), strings.Join(m.old, "\n"))
	}
	return strings.Join(slices.Replace(lines, at[0], at[0]+len(m.old), m.new...), "\n"), nil
}

// same reports whether two lines are the same but for where they begin.
func same(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }

// A tree is a copy of the module, in a folder.
type tree struct{ dir string }

// copy copies the root module.
func (t tree) copy() error {
	return filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(t.dir, name)
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(name, "go.mod"))
			if name != "." && (err == nil || d.Name() == ".git") {
				return filepath.SkipDir
			}
			return os.MkdirAll(to, 0o777)
		}
		if !d.Type().IsRegular() || strings.HasPrefix(d.Name(), "go.work") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o666)
	})
}

// runAll runs the tests without a mutation, and then with each.
func (t tree) runAll(all []mutation) error {
	start := time.Now()
	tried := map[string]bool{}
	for _, m := range all {
		for _, args := range m.tests {
			if tried[args] {
				continue
			}
			tried[args] = true
			fmt.Printf("%-34s ", "go test "+args)
			r, err := t.test(args)
			if err == nil && r.by != "" {
				err = fmt.Errorf("fails without a mutation, in %s:\n%s", r.by, r.output)
			}
			if err != nil {
				fmt.Println("FAILS")
				return fmt.Errorf("go test %s: %w", args, err)
			}
			fmt.Printf("passes, %.1f s\n", r.took.Seconds())
		}
	}
	caught, hung := 0, 0
	var survivors, known, wrong []string
	for _, m := range all {
		fmt.Printf("%-34s ", m.name)
		r, err := t.mutate(m)
		switch {
		case err != nil:
			fmt.Printf("ERROR: %v\n", err)
			wrong = append(wrong, m.name)
		case r.by != "" && m.known != "":
			fmt.Printf("ERROR: caught by %s, but called a known survivor\n", r.by)
			wrong = append(wrong, m.name)
		case r.by != "":
			caught++
			hang := ""
			if r.hang {
				hung++
				hang = "a hang of "
			}
			fmt.Printf("caught by %s%s, %.1f s\n", hang, r.by, r.took.Seconds())
		case m.known != "":
			fmt.Printf("survives, as known, %.1f s\n", r.took.Seconds())
			known = append(known, m.name+": "+m.known)
		default:
			fmt.Printf("SURVIVES, %.1f s\n", r.took.Seconds())
			survivors = append(survivors, m.name+": "+m.what)
		}
	}
	fmt.Println()
	for _, s := range known {
		fmt.Println("known survivor:", s)
	}
	for _, s := range survivors {
		fmt.Println("survivor:", s)
	}
	fmt.Printf("%d mutations: %d caught (%d of them by a hang), %d survived, %d survived as known, %d mistakes in the table; %.0f s\n",
		len(all), caught, hung, len(survivors), len(known), len(wrong), time.Since(start).Seconds())
	if n := len(survivors) + len(wrong); n > 0 {
		return fmt.Errorf("%d mutations that should have been caught were not", n)
	}
	return nil
}

// A result is what tests found.
type result struct {
	by     string // the test that failed; empty if none did
	hang   bool   // it did not end
	took   time.Duration
	output string
}

// mutate runs the tests of a mutation until one fails. It returns an error if that
// was not possible.
func (t tree) mutate(m mutation) (result, error) {
	file := filepath.Join(t.dir, m.file)
	before, err := os.ReadFile(file)
	if err != nil {
		return result{}, err
	}
	text, err := m.mutated(t.dir)
	if err != nil {
		return result{}, err
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		return result{}, err
	}
	defer os.WriteFile(file, before, 0o666)
	var sum result
	for _, args := range m.tests {
		r, err := t.test(args)
		if err != nil {
			return r, err
		}
		r.took += sum.took
		sum = r
		if r.by != "" {
			if args != "./"+filepath.Dir(m.file) {
				sum.by += " of " + args
			}
			break
		}
	}
	return sum, nil
}

// test compiles and runs the tests of a package, which is the last of args.
func (t tree) test(args string) (result, error) {
	f := strings.Fields(args)
	pkg := f[len(f)-1]
	binary := filepath.Join(t.dir, "tests.bin")
	cmd := exec.Command("go", append([]string{"test", "-c", "-ldflags=-w", "-o", binary}, f...)...)
	cmd.Dir = t.dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOGC=400") // the compiler collects less
	race := slices.Contains(f, "-race")
	if race {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return result{}, fmt.Errorf("go test -c %s: %w\n%s", args, err, out)
	}
	limit, shell := limit, fmt.Sprintf("ulimit -v %d; ", most)
	if race { // its detector reserves terabytes
		limit, shell = 5*limit, ""
	}
	shell += fmt.Sprintf("exec %s -test.short -test.failfast -test.v -test.timeout=%v", binary, limit)
	ctx, cancel := context.WithTimeout(context.Background(), limit+30*time.Second)
	defer cancel()
	cmd = exec.CommandContext(ctx, "bash", "-c", shell)
	cmd.Dir = filepath.Join(t.dir, pkg)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second // for children that have the pipe
	start := time.Now()
	err := cmd.Run()
	r := result{took: time.Since(start), output: out.String()}
	var exit *exec.ExitError
	switch {
	case err == nil:
		return r, nil
	case !errors.As(err, &exit):
		return r, err
	}
	r.by, r.hang = blame(r.output)
	r.hang = r.hang || r.took > limit
	return r, nil
}

var (
	timedOut = regexp.MustCompile(`(?s)panic: test timed out after.*?running tests:\n\t*(\w+)`)
	failed   = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	started  = regexp.MustCompile(`(?m)^=== (?:RUN|CONT) +(\w+)`)
)

// blame returns the name of the test that failed, by the output of all.
func blame(output string) (test string, hang bool) {
	if m := timedOut.FindStringSubmatch(output); m != nil {
		return m[1], true
	}
	if m := failed.FindStringSubmatch(output); m != nil {
		return m[1], false
	}
	if all := started.FindAllStringSubmatch(output, -1); all != nil { // a crash
		return all[len(all)-1][1], false
	}
	return "the start of the tests", false
}
