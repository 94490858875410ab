package slab_test

import (
	"testing"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/slab"
)

// visit collects what an iteration visits, and fails the test if an element
// comes twice or is not there.
func visit(t *testing.T, table *slab.Table[station], each func(slab.Handle[station], *station)) map[slab.Handle[station]]bool {
	t.Helper()
	seen := map[slab.Handle[station]]bool{}
	for h, p := range table.All() {
		if q, ok := table.Get(h); !ok || q != p {
			t.Fatalf("visited %v, which is not in the table", h)
		}
		if seen[h] {
			t.Fatalf("visited %v twice", h)
		}
		seen[h] = true
		if each != nil {
			each(h, p)
		}
	}
	checkTable(t, table)
	return seen
}

func TestTableAll(t *testing.T) {
	var table slab.Table[station]
	if n := len(visit(t, &table, nil)); n != 0 {
		t.Errorf("%d elements in an empty table", n)
	}
	for _, n := range []int{1, 20, 21, 22, 10000} {
		list := stations(&table, n)
		seen := visit(t, &table, nil)
		if len(seen) != n {
			t.Errorf("visited %d of %d elements", len(seen), n)
		}
		for _, h := range list {
			if !seen[h] {
				t.Fatalf("%v was not visited", h)
			}
			table.Remove(h)
		}
		if n := len(visit(t, &table, nil)); n != 0 {
			t.Errorf("visited %d removed elements", n)
		}
	}
}

// Each element is removed as it is visited: the way to empty a table.
func TestTableAllRemoveVisited(t *testing.T) {
	var table slab.Table[station]
	stations(&table, 10000)
	if n := len(visit(t, &table, func(h slab.Handle[station], _ *station) { table.Remove(h) })); n != 10000 || table.Len() != 0 {
		t.Errorf("visited %d, %d are left", n, table.Len())
	}
}

// Elements that are removed before their turn are not visited, the others all.
func TestTableAllRemoveOthers(t *testing.T) {
	var table slab.Table[station]
	list := stations(&table, 10000)
	gone := map[slab.Handle[station]]bool{}
	i := 0
	seen := visit(t, &table, func(h slab.Handle[station], _ *station) {
		for range 2 { // elements in front and behind
			other := list[(i*7919+13)%len(list)]
			i++
			if other != h && table.Remove(other) {
				gone[other] = true
			}
		}
	})
	for _, h := range list {
		_, there := table.Get(h)
		if there == gone[h] || there && !seen[h] {
			t.Fatalf("%v: there %t, removed %t, visited %t", h, there, gone[h], seen[h])
		}
	}
	if len(seen) == len(list) || len(gone) < 1000 {
		t.Errorf("visited %d, removed %d: the test tests nothing", len(seen), len(gone))
	}
}

// A loop that inserts ends, and visits all that was there.
func TestTableAllInsert(t *testing.T) {
	for _, n := range []int{1, 21, 3000} {
		var table slab.Table[station]
		list := stations(&table, n)
		seen := visit(t, &table, func(slab.Handle[station], *station) { stations(&table, 3) })
		for _, h := range list {
			if !seen[h] {
				t.Fatalf("%v was not visited", h)
			}
		}
		if table.Len() != n+3*len(seen) {
			t.Errorf("%d elements, visited %d", table.Len(), len(seen))
		}
		// Removing and inserting in turn puts new elements into slots in front and
		// behind.
		before := table.Len()
		visit(t, &table, func(h slab.Handle[station], _ *station) {
			table.Remove(h)
			stations(&table, 1)
		})
		if table.Len() != before {
			t.Errorf("%d elements, want %d", table.Len(), before)
		}
	}
}

// An iteration that ends early, panics, or runs inside another leaves nothing
// behind.
func TestTableAllEndsEarly(t *testing.T) {
	var table slab.Table[station]
	stations(&table, 100)
	n := 0
	for range table.All() {
		if n++; n == 50 {
			break
		}
	}
	testkit.PanicText(t, "in the loop", func() {
		for range table.All() {
			panic("in the loop")
		}
	})
	pairs := 0
	for range table.All() {
		for range table.All() {
			pairs++
		}
	}
	if n != 50 || pairs != 100*100 {
		t.Errorf("%d elements and %d pairs", n, pairs)
	}
	all := table.All() // may be used again
	for range 2 {
		n = 0
		for range all {
			n++
		}
		if n != 100 {
			t.Errorf("%d elements", n)
		}
	}
}
