//go:build !haven_check && !asan && !msan

package check_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/slab"
)

// order has no pointers, and node has.
type order struct {
	id    int64
	price [3]int32
	flags [5]byte
}

type node struct {
	next *node
	name string
	any  any
	n    [3]int64
}

var sink int64

// A guardCase is a mistake, made in a process of its own that guards everything; to end
// well is to fail. It calls here in the line before memory is allocated or released:
// the report has to name both lines.
type guardCase struct {
	name string
	run  func(here func(what string))
	want []string // of the report
}

var guardCases = []guardCase{
	{"cache: an object without pointers read after Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[order]{Name: "orders"})
		here("allocated")
		p := c.Alloc()
		p.id = 7
		here("released")
		c.Free(p)
		sink = p.id
	}, []string{"use after release", "is byte 0 of it", "check_test.order", `cache "orders"`}},
	{"cache: an object without pointers written after Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[order]{Name: "orders"})
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		p.flags[4] = 1
	}, []string{"use after release", `cache "orders"`}},
	{"cache: an object freed by FreeBatch", func(here func(string)) {
		c := slab.NewCache(slab.Config[order]{Name: "orders"})
		ps := make([]*order, 3)
		here("allocated")
		c.AllocBatch(ps)
		p := ps[1]
		here("released")
		c.FreeBatch(ps)
		p.id++
	}, []string{"use after release", `cache "orders"`}},
	{"cache: a second Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[node]{Name: "nodes"})
		here("allocated")
		p := c.Alloc()
		q := c.Alloc()
		here("released")
		c.Free(p)
		c.Free(p)
		c.Free(q)
	}, []string{"second free", `cache "nodes"`}},
	{"cache: a pointer of another cache", func(here func(string)) {
		c, d := slab.NewCache(slab.Config[order]{Name: "orders"}), slab.NewCache(slab.Config[order]{Name: "trades"})
		d.Alloc()
		here("allocated")
		p := c.Alloc()
		d.Free(p)
	}, []string{"free of a foreign pointer", `cache "orders"`}},
	{"cache: the byte behind", func(here func(string)) {
		c := slab.NewCache(slab.Config[order]{Name: "orders"})
		for range 40 { // by chance at the end of the pages
			here("allocated")
			p := c.Alloc()
			*(*byte)(unsafe.Add(unsafe.Pointer(p), unsafe.Sizeof(*p))) = 1
			here("released") // found here otherwise
			c.Free(p)
		}
	}, []string{"overrun", "byte 1 behind its end", `cache "orders"`}},
	{"cache: the byte before", func(here func(string)) {
		c := slab.NewCache(slab.Config[order]{Name: "orders"})
		for range 40 {
			here("allocated")
			p := c.Alloc()
			*(*byte)(unsafe.Add(unsafe.Pointer(p), -1)) = 1
			here("released")
			c.Free(p)
		}
	}, []string{"underrun", `cache "orders"`}},
	{"cache: a pointer followed after Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[node]{Name: "nodes"})
		here("allocated")
		p := c.Alloc()
		p.next = new(node)
		here("released")
		c.Free(p)
		sink = p.next.n[0]
	}, []string{"use after release", "followed", `cache "nodes"`}},
	{"cache: an interface used after Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[node]{Name: "nodes"})
		here("allocated")
		p := c.Alloc()
		p.any = strconv.Itoa
		here("released")
		c.Free(p)
		runtime.KeepAlive(p.any.(func(int) string))
	}, []string{"use after release", `cache "nodes"`}},
	{"cache: a number written after Free", func(here func(string)) {
		c := slab.NewCache(slab.Config[node]{Name: "nodes"})
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		p.n[2] = 1
		verify()
	}, []string{"write after release", ".n[2]", `cache "nodes"`}},
	{"cache: a pointer written after Free, found when the slot is needed", func(here func(string)) {
		c := slab.NewCache(slab.Config[node]{Name: "nodes"})
		here("allocated")
		p := c.Alloc()
		here("released")
		c.Free(p)
		p.next = p
		check.OnGuard(func(r *check.Report) { panic(r) })
		for range 10 {
			c.Free(c.Alloc())
		}
	}, []string{"write after release", ".next", `cache "nodes"`}},
	{"arena: an object without pointers read after Reset", func(here func(string)) {
		a := warm[order]("requests")
		p := arena.New[order](a)
		here("released")
		a.Reset()
		sink = p.id
	}, []string{"use after release", "check_test.order", `arena "requests"`}},
	{"arena: text read after Reset", func(here func(string)) {
		a := warm[byte]("requests")
		s := arena.String(a, "some text")
		here("released")
		a.Reset()
		sink = int64(s[3])
	}, []string{"use after release", "uint8", `arena "requests"`}},
	{"arena: a pointer followed after Reset", func(here func(string)) {
		a := warm[node]("requests")
		p := arena.New[node](a)
		p.next = p
		here("released")
		a.Reset()
		sink = p.next.n[1]
	}, []string{"use after release", "check_test.node", `arena "requests"`}},
	{"arena: a number written after Put", func(here func(string)) {
		pool := arena.NewPool(arena.Config{Name: "requests"})
		a := pool.Get()
		p := arena.New[node](a)
		here("released")
		pool.Put(a)
		p.n[0] = 1
		verify()
	}, []string{"write after release", ".n[0]", `arena "requests"`}},
	{"lane: an object without pointers written after Reset", func(here func(string)) {
		var l arena.Lane[order]
		l.New()
		l.Reset()
		p := l.New()
		here("released")
		l.Reset()
		p.id = 1
	}, []string{"use after release", "check_test.order", "a Lane"}},
}

// warm returns an arena that was used for a T before.
func warm[T any](name string) *arena.Arena {
	a := arena.NewArena(arena.Config{Name: name})
	arena.New[T](a)
	a.Reset()
	return a
}

func verify() {
	if err := check.Verify(); err != nil {
		panic(err)
	}
}

// TestGuard makes each mistake in a child process, in which a fault is a panic, and reads
// the report; and in another one, in which it is not, with a monitor.
func TestGuard(t *testing.T) {
	if n, err := strconv.Atoi(os.Getenv("HAVEN_GUARD_CASE")); err == nil {
		debug.SetPanicOnFault(os.Getenv("HAVEN_GUARD_PANICS") != "")
		defer func() {
			v := recover()
			if r := check.Explain(v); r != nil {
				v = r
			}
			if v != nil {
				fmt.Println(v)
			}
			os.Exit(0)
		}()
		guardCases[n].run(func(what string) {
			_, _, line, _ := runtime.Caller(1)
			fmt.Printf("LINE %s guard_test.go:%d\n", what, line+1)
		})
		return
	}
	own := runtime.GOOS == "linux" || runtime.GOOS == "darwin"
	for n, c := range guardCases {
		t.Run(c.name, func(t *testing.T) {
			for _, panics := range []string{"1", ""} {
				if panics == "" && testing.Short() && n%4 > 0 {
					continue // a process takes its time under the race detector
				}
				if !own && (panics == "" || !strings.Contains(c.name, "follow") && !strings.Contains(c.name, "Put")) {
					continue
				}
				cmd := exec.Command(os.Args[0], "-test.run=^TestGuard$")
				cmd.Env = append(os.Environ(), "HAVEN_GUARD_CASE="+strconv.Itoa(n), "HAVEN_GUARD_PANICS="+panics, "HAVEN_GUARD=1,8", "HAVEN_TEST_MONITOR=1", "HAVEN_STALE=0")
				b, _ := cmd.CombinedOutput() // the monitor has its standard error, so it has ended as well
				text := string(b)
				if !strings.Contains(text, "\nhaven: ") {
					t.Fatalf("the mistake was not found:\n%s", text)
				}
				if strings.Contains(text, "\n\t(...)\n") {
					t.Errorf("an empty stack in\n%s", text)
				}
				for _, want := range c.want {
					if !strings.Contains(text, want) {
						t.Errorf("no %q in\n%s", want, text)
					}
				}
				for _, m := range regexp.MustCompile(`(?m)^LINE (\w+) (\S+)`).FindAllStringSubmatch(text, 2) {
					_, section, ok := strings.Cut(text, "\n"+m[1]+" at\n")
					if !ok && m[1] == "released" && strings.Contains(text, "run: ") {
						continue // the byte beside an object in use
					}
					if !ok || !strings.Contains(section, m[2]) {
						t.Errorf("the report does not say that the memory was %s at %s:\n%s", m[1], m[2], text)
					}
				}
			}
		})
	}
}

func TestMain(m *testing.M) {
	monitors := os.Getenv("HAVEN_TEST_MONITOR") != "" && os.Getenv("HAVEN_GUARD_PANICS") == ""
	if monitors || os.Getenv("HAVEN_GUARD_MONITOR") != "" { // the second is in a process that is a monitor
		if err := check.MonitorGuard(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(m.Run())
}
