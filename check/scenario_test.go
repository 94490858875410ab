//go:build haven_check

package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/slab"
)

type node struct {
	next *node
	name string
	any  any
	n    [3]int64
	tail byte
}

// A scenario is a mistake, made in a process of its own; to end well is to fail. It
// calls here in the line before memory is allocated or released: the report has to
// name both lines.
type scenario struct {
	name string
	run  func(here func(what string))
	want []string // of the report
}

var kept *node

var scenarios = []scenario{
	{"arena: a field written after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Name("requests"))
		here("allocated")
		p := arena.New[node](a)
		here("released")
		a.Reset()
		p.n[1] = 7
		fail(check.Verify())
	}, []string{"write after release", `.n[1]`, `arena "requests"`, "check_test.node"}},
	{"arena: a pointer written after Reset", func(here func(string)) {
		a := arena.NewArena()
		here("allocated")
		p := arena.New[node](a)
		here("released")
		a.Reset()
		p.next = new(node)
		fail(check.Verify())
	}, []string{"write after release", ".next"}},
	{"arena: the last byte written after Put", func(here func(string)) {
		var pool arena.Pool
		a := pool.Get()
		here("allocated")
		p := arena.New[node](a)
		here("released")
		pool.Put(a)
		p.tail = 1
		fail(check.Verify())
	}, []string{"write after release", ".tail"}},
	{"arena: a slice written after Release", func(here func(string)) {
		a := arena.NewArena()
		arena.MakeSlice[int](a, 3, 3)
		m := a.Mark()
		here("allocated")
		s := arena.MakeSlice[int](a, 10, 10)
		here("released")
		a.Release(m)
		s[4] = 1
		arena.MakeSlice[int](a, 10, 10)
	}, []string{"write after release", "element 4"}},
	{"arena: an object written after Release", func(here func(string)) {
		a := arena.NewArena()
		arena.New[node](a)
		m := a.Mark()
		here("allocated")
		p := arena.New[node](a)
		here("released")
		a.Release(m)
		p.name = "late"
		arena.New[node](a)
	}, []string{"write after release", ".name"}},
	{"arena: a large slice written after Reset", func(here func(string)) {
		a := arena.NewArena()
		arena.New[node](a)
		here("allocated")
		s := arena.MakeSlice[node](a, 5000, 5000)
		here("released")
		a.Reset()
		s[4999].n[2] = 1
		fail(check.Verify())
	}, []string{"write after release", "element 4999", ".n[2]"}},
	{"arena: a pointer followed after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Name("requests"))
		here("allocated")
		p := arena.New[node](a)
		p.next = arena.New[node](a)
		here("released")
		a.Reset()
		faults(func() { p.next.n[0]++ })
	}, []string{"use after release", `arena "requests"`}},
	{"arena: a string read after Reset", func(here func(string)) {
		a := arena.NewArena()
		here("allocated")
		p := arena.New[node](a)
		p.name = arena.String(a, "text")
		here("released")
		a.Reset()
		faults(func() { runtime.KeepAlive(strings.Clone(p.name[:3])) })
	}, []string{"use after release"}},
	{"arena: an interface used after Reset", func(here func(string)) {
		a := arena.NewArena()
		here("allocated")
		p := arena.New[node](a)
		p.any = strconv.Itoa
		here("released")
		a.Reset()
		faults(func() { runtime.KeepAlive(p.any.(func(int) string)) })
	}, []string{"use after release"}},
	{"lane: written after Reset", func(here func(string)) {
		var l arena.Lane[node]
		here("allocated")
		p := l.New()
		here("released")
		l.Reset()
		p.n[0] = 1
		fail(check.Verify())
	}, []string{"write after release", "a Lane"}},
	{"context: written after Delete", func(here func(string)) {
		mc := memctx.New("query")
		here("allocated")
		p := arena.New[node](mc.Arena())
		here("released")
		mc.Delete()
		p.n[0] = 1
		fail(check.Verify())
	}, []string{"write after release", `"query"`}},
	{"cache: a field written after Free", func(here func(string)) {
		c := slab.NewCache[node](slab.Name("orders"))
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		p.n[2] = 1
		fail(check.Verify())
	}, []string{"write after release", ".n[2]", `cache "orders"`}},
	{"cache: a second Free", func(here func(string)) {
		c := slab.NewCache[node](slab.Name("orders"))
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		c.Free(p)
	}, []string{"second free", `cache "orders"`}},
	{"cache: a pointer of another cache", func(here func(string)) {
		c, d := slab.NewCache[node](slab.Name("orders")), slab.NewCache[node](slab.Name("trades"))
		d.Alloc()
		here("allocated")
		p := c.Alloc()
		d.Free(p)
	}, []string{"foreign", `cache "orders"`, `cache "trades"`}},
	{"cache: a pointer of the heap", func(here func(string)) {
		c := slab.NewCache[node](slab.Name("orders"))
		c.Alloc()
		c.Free(new(node))
	}, []string{"foreign", `cache "orders"`}},
	{"cache: a pointer into an object", func(here func(string)) {
		c := slab.NewCache[[2]node]()
		d := slab.NewCache[node]()
		here("allocated")
		p := c.Alloc()
		d.Free(&p[1])
	}, []string{"interior pointer"}},
	{"cache: a pointer followed after Free", func(here func(string)) {
		c := slab.NewCache[node](slab.Name("orders"))
		here("allocated")
		p := c.Alloc()
		p.next = new(node)
		here("released")
		c.Free(p)
		faults(func() { kept = p.next.next })
	}, []string{"use after release", `cache "orders"`}},
}

// fail ends the process as a report does.
func fail(err error) {
	if err != nil {
		panic(err)
	}
}

// faults calls f, and ends the process with the explanation of its fault.
func faults(f func()) {
	debug.SetPanicOnFault(true)
	var v any
	func() {
		defer func() { v = recover() }()
		f()
	}()
	if r := check.Explain(v); r != nil {
		panic(r)
	}
}

// TestScenarios makes each mistake in a child process and reads its report.
func TestScenarios(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv("HAVEN_SCENARIO")); err == nil {
		scenarios[n].run(func(what string) {
			_, file, line, _ := runtime.Caller(1)
			os.Stdout.WriteString("LINE " + what + " " + filepath.Base(file) + ":" + strconv.Itoa(line+1) + "\n")
		})
		os.Exit(0)
	}
	for n, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			if magazine.Race && leftToRace(s) {
				t.Skip("the race detector's business")
			}
			cmd := exec.Command(os.Args[0], "-test.run=^TestScenarios$")
			cmd.Env = append(os.Environ(), "HAVEN_SCENARIO="+strconv.Itoa(n), "HAVEN_CHECK=")
			b, err := cmd.CombinedOutput()
			text := string(b)
			if err == nil {
				t.Fatalf("the mistake was not found:\n%s", text)
			}
			for _, want := range s.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, line := range strings.Split(text, "\n") {
				f := strings.Fields(line)
				if len(f) == 3 && f[0] == "LINE" {
					section := text[max(0, strings.Index(text, f[1]+" at\n")):]
					if !strings.Contains(text, f[1]+" at\n") || !strings.Contains(section, f[2]) {
						t.Errorf("the report does not say that the memory was %s at %s:\n%s", f[1], f[2], text)
					}
				}
			}
		})
	}
}

// TestCorrectProgram makes no mistake, and has no report.
func TestCorrectProgram(t *testing.T) {
	a := arena.NewArena(arena.Name("correct"))
	c := slab.NewCache[node](slab.Name("correct"))
	for range 200 {
		var head *node
		for i := range 50 {
			p := arena.New[node](a)
			p.next, p.name = head, arena.String(a, strconv.Itoa(i))
			head = p
			m := a.Mark()
			arena.MakeSlice[int](a, i, i)
			a.Release(m)
		}
		var held []*node
		for p := head; p != nil; p = p.next {
			q := c.Alloc()
			*q = *p
			held = append(held, q)
		}
		for _, q := range held {
			c.Free(q)
		}
		a.Reset()
		if err := check.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	if check.Explain("another panic") != nil {
		t.Error("a panic of another kind is explained")
	}
}
