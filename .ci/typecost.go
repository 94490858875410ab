// The program of .ci/typecost, which says what it does.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	module    = "github.com/haven-mem/haven"
	few, many = 10, 110
	rounds    = 3
	thousand  = 1000
)

// A use is what a program does with each type, which stands for T.
type use struct{ name, pkg, global, body string }

var uses = []use{
	{"new", "", "", "keep(new(T)); keep(make([]T, n))"},
	{"arena", "arena", "arena.NewArena()", "keep(arena.New[T](a)); keep(arena.MakeSlice[T](a, n, n))"},
	{"arena, Lane", "arena", "arena.NewArena()", "l := arena.LaneOf[T](a); keep(l.New()); keep(l.MakeSlice(n, n))"},
	{"bump", "bump", "new(bump.Arena)", "keep(bump.New[T](a)); keep(bump.MakeSlice[T](a, n, n))"},
	{"slab.Cache", "slab", "", "c := slab.NewCache[T](); p := c.Alloc(); keep(p); c.Free(p)"},
	{"slab.Local", "slab", "", "var c slab.Local[T]; p := c.Alloc(); keep(p); c.Free(p)"},
	{"slab.Table", "slab", "", "var t slab.Table[T]; h, _ := t.Insert(*new(T)); p, _ := t.Get(h); keep(p); t.Remove(h)"},
	{"pool.Pool", "pool", "", "p := pool.New(func() *T { return new(T) }); x := p.Get(); keep(x); p.Put(x)"},
	{"pool.Local", "pool", "", "p := pool.NewLocal(func() *T { return new(T) }); x := p.Get(); keep(x); p.Put(x)"},
}

var wordT = regexp.MustCompile(`\bT\b`)

// A cost is what one build took.
type cost struct{ bytes, seconds, memory float64 }

// notes is the variable that names the file for what the compiler took; the program is
// called as the go command's -toolexec where it is set.
const notes = "TYPECOST_NOTES"

func main() {
	if os.Getenv(notes) != "" {
		os.Exit(tool(os.Args[1:]))
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "typecost:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	list := slices.DeleteFunc(slices.Clone(uses), func(u use) bool {
		return len(names) > 0 && !slices.Contains(names, u.name)
	})
	if len(list) == 0 {
		return fmt.Errorf("no use is called %q", names)
	}
	dir, err := os.MkdirTemp("", "typecost")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s, %s/%s, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().UTC().Format(time.DateOnly))
	fmt.Printf("| a type used with | KB | ms | MB | %d types: s | MB |\n|---|--:|--:|--:|--:|--:|\n", thousand)
	for _, u := range list {
		small, err := least(dir, u, few, rounds)
		if err != nil {
			return err
		}
		large, err := least(dir, u, many, rounds)
		if err != nil {
			return err
		}
		all, err := least(dir, u, thousand, 1)
		if err != nil {
			return err
		}
		const n = many - few
		fmt.Printf("| %s | %.1f | %.1f | %.2f | %.1f | %.0f |\n", u.name, (large.bytes-small.bytes)/1e3/n,
			(large.seconds-small.seconds)*1e3/n, (large.memory-small.memory)/1e6/n, all.seconds, all.memory/1e6)
	}
	return nil
}

// least builds the program of n types several times and returns the least of each cost.
func least(dir string, u use, n, times int) (cost, error) {
	var c cost
	for i := range times {
		x, err := build(filepath.Join(dir, fmt.Sprintf("%d-%d", n, i)), u, n)
		if err != nil {
			return c, err
		}
		if i == 0 {
			c = x
		}
		c = cost{min(c.bytes, x.bytes), min(c.seconds, x.seconds), min(c.memory, x.memory)}
	}
	return c, nil
}

func build(dir string, u use, n int) (c cost, err error) {
	defer os.RemoveAll(dir)
	repository, err := os.Getwd()
	if err != nil {
		return c, err
	}
	self, err := os.Executable()
	if err != nil {
		return c, err
	}
	err = os.Mkdir(dir, 0o755)
	for name, text := range map[string]string{
		"main.go": source(u, n),
		"go.mod":  fmt.Sprintf("module typecost\n\ngo 1.24\n\nrequire %s v0.0.0\n\nreplace %[1]s => %s\n", module, repository),
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
		}
	}
	if err != nil {
		return c, err
	}
	file := filepath.Join(dir, "notes")
	cmd := exec.Command("go", "build", "-toolexec", self, "-o", "program", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", notes+"="+file)
	if out, err := cmd.CombinedOutput(); err != nil {
		return c, fmt.Errorf("%s: %w\n%s", u.name, err, out)
	}
	noted, err := os.ReadFile(file)
	if err != nil {
		return c, err
	}
	if _, err := fmt.Sscan(string(noted), &c.seconds, &c.memory); err != nil {
		return c, fmt.Errorf("notes %q: %w", noted, err)
	}
	program, err := os.Stat(filepath.Join(dir, "program"))
	if err != nil {
		return c, err
	}
	c.bytes = float64(program.Size())
	return c, nil
}

// source returns a program in which n types are used. Its text is new each time, so that
// the go command compiles it.
func source(u use, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %d\npackage main\n\n", time.Now().UnixNano())
	if u.pkg != "" {
		fmt.Fprintf(&b, "import %q\n\n", module+"/"+u.pkg)
	}
	if u.global != "" {
		fmt.Fprintf(&b, "var a = %s\n\n", u.global)
	}
	b.WriteString("var kept any\n\n//go:noinline\nfunc keep(x any) { kept = x }\n\nfunc main() {\n")
	for i := range n {
		fmt.Fprintf(&b, "\tuse%d(%d)\n", i, i)
	}
	b.WriteString("}\n")
	for i := range n {
		name := "Message" + strconv.Itoa(i)
		fmt.Fprintf(&b, `
type %s struct {
	ID    int64
	Name  string
	Next  *%[1]s
	Tags  []string
	Attrs map[string]any
	Raw   [%d]byte
}

func use%[2]d(n int) { %s }
`, name, i, wordT.ReplaceAllString(u.body, name))
	}
	return b.String()
}

// tool runs a tool of the go command, and notes what the compiler takes for the program.
func tool(args []string) int {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "typecost:", err)
		return 1
	}
	at := slices.Index(args, "-p")
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok && at > 0 && args[at+1] == "main" && strings.HasSuffix(args[0], "compile") {
		seconds := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		text := fmt.Sprintln(seconds.Seconds(), float64(usage.Maxrss)*1024)
		if err := os.WriteFile(os.Getenv(notes), []byte(text), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "typecost:", err)
			return 1
		}
	}
	return cmd.ProcessState.ExitCode()
}
