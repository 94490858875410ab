package misuse_test

import (
	"flag"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the tables of testdata, the matrix, and the table of MISTAKES.md")
	every  = flag.Bool("every", false, "all types and offsets, in place of some")
	show   = flag.String("show", "", "print what trials of this name said")
)

// TestTable makes each mistake and compares what was found with the table.
func TestTable(t *testing.T) {
	if os.Getenv(modeVar) != "" {
		t.Skip("a child process")
	}
	if strconv.IntSize == 32 {
		t.Skip("the tables are those of 64 bits, where types are larger")
	}
	for _, m := range modes {
		if !m.here {
			continue
		}
		t.Run(m.name, func(t *testing.T) {
			file := filepath.Join("testdata", m.name+".txt")
			list := trials(!*every && !*update)
			got := m.run(t, list)
			if *update {
				writeTable(t, file, got)
				return
			}
			want := readTable(t, file)
			for _, x := range list {
				r, w := got[x.String()], want.of(x)
				// The race detector remembers a few accesses of each word, and the guard
				// draws lots: what is seldom otherwise is not so four times.
				for n := 0; n < 3 && r.outcome != w; n++ {
					r = m.again(t, x)
				}
				if r.outcome != w {
					t.Errorf("%v: %v, and the table says %v:\n%s", x, r.outcome, w, r.text)
				}
			}
		})
	}
}

// A result is the outcome of a trial, with what was printed.
type result struct {
	outcome
	text string
}

// run makes trials on all processors.
func (m mode) run(t *testing.T, list []*trial) map[string]result {
	all := map[string]result{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		part := list[i*len(list)/n : (i+1)*len(list)/n]
		wg.Add(1)
		go func() {
			defer wg.Done()
			made, err := m.make(part)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			for x, got := range made {
				r := result{m.outcomeOf(x, got), got.text}
				for n := 0; n < 3 && x.chance() && r.when == "no"; n++ { // some other damage came first
					r = m.again(t, x)
				}
				all[x.String()] = r
				if *show != "" && strings.Contains(x.String(), *show) {
					t.Logf("%v: %v\n%s", x, r.outcome, r.text)
				}
			}
		}()
	}
	wg.Wait()
	return all
}

// again makes one trial, in a process of its own.
func (m mode) again(t *testing.T, x *trial) result {
	made, err := m.make([]*trial{x})
	if err != nil {
		t.Error(err)
	}
	return result{m.outcomeOf(x, made[x]), made[x].text}
}
