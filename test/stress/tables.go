package stress

import "github.com/haven-mem/haven/slab"

// A row is an element of a table, linked by handles. The table is the worker's own.
type row struct {
	next  slab.Handle[row]
	stamp *stamp
	words [6]uint64
}

// A thread is a chain of rows.
type thread struct {
	head slab.Handle[row]
	past slab.Handle[row] // of an element that was removed
	seed uint64
	n    int
}

// stepTable does something with one of the threads.
func (w *worker) stepTable() {
	i := w.below(len(w.threads))
	t := &w.threads[i]
	n := 1 + w.below(12)
	switch k := w.below(16); {
	case t.n == 0:
		w.note("make", "thread", i, inHeap, n)
		t.seed = w.next()
		w.growThread(t, n)
	case k < 6:
		w.note("verify", "thread", i, inHeap, t.n)
		w.readThread(t)
	case k < 10 && t.n < 100:
		w.note("grow", "thread", i, inHeap, n)
		w.growThread(t, n)
	case k < 15:
		n = min(n, t.n)
		if w.oneIn(4) {
			n = t.n
		}
		w.note("shrink", "thread", i, inHeap, n)
		w.shrinkThread(t, n)
	default:
		w.note("count", "table", 0, inHeap, 0)
		rows := 0
		for h := range w.table.All() {
			if _, ok := w.table.Get(h); !ok {
				fail("an iteration of the table has %v, which Get does not find", h)
			}
			rows++
		}
		want := 0
		for i := range w.threads {
			want += w.threads[i].n
		}
		if st := w.table.Stats(); rows != want || w.table.Len() != want || st.Slots != st.InUse+st.Free+st.Retired {
			fail("an iteration of the table has %d rows, want %d: %v", rows, want, st)
		}
		w.ops += int64(rows)
	}
}

// promote copies a chain of cells from wherever it is into the table.
func (w *worker) promote(c *chain[cell]) {
	i := w.below(len(w.threads))
	t := &w.threads[i]
	if c.head == nil || t.n > 0 {
		return
	}
	w.note("promote to thread", "cell", i, c.home, c.n)
	verify[cell](c)
	t.seed = c.seed
	p := c.head
	prev := (*row)(nil)
	for j := c.n - 1; j >= 0; j-- {
		s := p.stamp
		if s != nil { // it may be in memory that is used again
			s = w.stamp(inHeap, c.seedOf(j))
		}
		h, r := w.table.Insert(row{stamp: s, words: p.words})
		if prev == nil {
			t.head = h
		} else {
			prev.next = h
		}
		prev, p = r, p.next
	}
	t.n = c.n
	w.ops += int64(c.n)
	w.readThread(t)
}

func (w *worker) growThread(t *thread, n int) {
	for range n {
		seed := mix(t.seed + uint64(t.n))
		r := row{next: t.head}
		fill(r.words[:], seed)
		if stamped(seed) {
			r.stamp = w.stamp(inHeap, seed)
		}
		h, p := w.table.Insert(r)
		if back := slab.HandleOf[row](h.Uint64()); back != h || *p != r {
			fail("a row inserted as %v has the handle %v back and the content %+v", h, back, *p)
		}
		t.head = h
		t.n++
		w.ops++
	}
}

// rowAt verifies the row i of a thread.
func (w *worker) rowAt(t *thread, h slab.Handle[row], i int) *row {
	r, ok := w.table.Get(h)
	if !ok {
		fail("row %d of a thread of %d is not found by its handle %v", i, t.n, h)
	}
	seed := mix(t.seed + uint64(i))
	if differs(r.words[:], seed) >= 0 {
		mustBeContent(r.words[:], seed, func() string { return "row of a thread" })
	}
	if r.stamp != nil || stamped(seed) {
		mustBeStamp(r.stamp, seed, func() string { return "row of a thread" })
	}
	return r
}

func (w *worker) readThread(t *thread) {
	h := t.head
	for i := t.n - 1; i >= 0; i-- {
		h = w.rowAt(t, h, i).next
	}
	w.mustBeEnd(t, h)
	w.ops += int64(t.n)
}

func (w *worker) mustBeEnd(t *thread, h slab.Handle[row]) {
	if h != (slab.Handle[row]{}) {
		fail("a thread goes on behind its end, with %v", h)
	}
	if p, ok := w.table.Get(t.past); ok {
		fail("the handle %v of a row that was removed finds %+v", t.past, *p)
	}
}

func (w *worker) shrinkThread(t *thread, n int) {
	for range n {
		h := t.head
		r := w.rowAt(t, h, t.n-1)
		t.head = r.next
		if !w.table.Remove(h) {
			fail("the row of handle %v cannot be removed", h)
		}
		if w.table.Remove(h) {
			fail("the row of handle %v was removed twice", h)
		}
		t.past = h
		t.n--
		w.ops++
	}
	if t.n == 0 {
		w.mustBeEnd(t, t.head)
		t.head = slab.Handle[row]{}
	}
}

// endTable removes everything.
func (w *worker) endTable() {
	for i := range w.threads {
		t := &w.threads[i]
		w.shrinkThread(t, t.n)
	}
	if st := w.table.Stats(); st.InUse != 0 || w.table.Len() != 0 {
		fail("all rows were removed, but the table has %v", st)
	}
}
