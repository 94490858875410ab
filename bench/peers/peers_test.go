package main

import (
	"testing"

	"github.com/haven-mem/haven/bench/workload"
)

// Each peer makes the same documents, again and again in the memory it keeps.
func TestPeers(t *testing.T) {
	for _, p := range peers {
		made := p.make()
		for _, n := range []int{1, 2, 3, 1000, 7, largest, 300} {
			objects, children := 0, 0
			for o := made.document(n); o != nil; o = o.header().up {
				objects++
				if o.header().n != n-objects {
					t.Fatalf("%s: object %d of a document of %d has number %d", p.name, n-objects, n, o.header().n)
				}
				if e, ok := o.(*element); ok {
					children += len(e.children)
					if e.name != word(e.n) || e.children[0] != e.up {
						t.Fatalf("%s: object %d of a document of %d is %+v", p.name, e.n, n, e)
					}
				}
			}
			want := 0
			for i := 2; i < n; i += 3 {
				want += min(i, fanout)
			}
			if objects != n || children != want {
				t.Errorf("%s: a document of %d has %d objects, and %d children of %d", p.name, n, objects, children, want)
			}
			made.end()
		}
	}
}

// Each case runs, and the sizes of a case are those of a run before.
func TestCases(t *testing.T) {
	for _, c := range cases(workload.Config{Quick: true}) {
		var ops int64
		for _, v := range c.Variants {
			in, err := v.Setup()
			if err != nil {
				t.Fatal(err)
			}
			r := workload.Round{Latencies: new(workload.Histogram)}
			if in.Round(&r); r.Ops < 100_000 || ops != 0 && r.Ops != ops {
				t.Errorf("%s, %s: %d objects", c.Name, v.Name, r.Ops)
			}
			ops = r.Ops
			in.Close()
		}
	}
}
