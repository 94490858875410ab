package memctx_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

// The model of a forest of contexts is nodes with slices of their children.
// Whatever is a sum it adds up anew, by recursion, from what the arenas say that
// they have.

// A node is what the model knows of a context.
type node struct {
	mc       *memctx.Context
	name     string
	ident    string
	parent   *node // stays when it is gone
	children []*node
	state    string
	forsaken bool
	leases   int
	releases []func()
	released func() // the last of them that was called
	resets   uint64

	limit, reserve int
	isBound        bool  // has one, or had until its end
	cut            bool  // from the tree: what it counts for does not change any more
	up             *node // if it is cut: the next one above with a limit or a reserve

	callbacks, inArena []callback // the last one runs first
	things             []thing
}

// A callback is one that was registered with a context or with its arena.
type callback struct {
	id    int
	does  int
	of    *node
	moves *move
}

// A move is what a callback does that moves what it belongs to: the parent, or, of a
// root, that one itself. The model decides where to, and what comes of it.
type move struct {
	wish *node // where no limit is in the way
	what *memctx.Context
	to   *memctx.Context
	err  string
}

// What callbacks do.
const (
	returns = iota
	panics
	registers // another one, which returns
	allocates
	moves
)

// A thing was allocated in a context.
type thing struct {
	b   []byte
	tag *tag
	x   byte
}

// A tag has a pointer to what nobody else refers to.
type tag struct {
	x    *byte
	next *tag
}

func (th thing) ok() bool {
	if th.tag != nil {
		return th.tag.next == th.tag && *th.tag.x == th.x
	}
	return bytes.Count(th.b, []byte{th.x}) == len(th.b)
}

type treeModel struct {
	t     testing.TB
	nodes []*node
	kept  []thing // of contexts that do not end, or that leases held: they stay as they are
	names []string
	base  map[string]memctx.NameStats // at the start
	calls int                         // callbacks made
	ran   []int                       // ids, as they ran
	want  []int                       // as they should have
	last  any                         // what the operation should panic with
	step  int
	op    string
}

func newTreeModel(t testing.TB) *treeModel {
	m := &treeModel{t: t, names: []string{"model a", "model b", "model c"}, base: map[string]memctx.NameStats{}}
	for s := range memctx.Names() {
		m.base[s.Name] = s
	}
	return m
}

func (m *treeModel) failf(format string, args ...any) {
	m.t.Helper()
	var b strings.Builder
	memctx.WriteReport(&b, memctx.ReportOptions{})
	m.t.Fatalf("step %d, %s: %s\n%s", m.step, m.op, fmt.Sprintf(format, args...), b.String())
}

// path is what the context's Path is, as far as nothing above it, or it itself, is another's.
func (n *node) path() string {
	s := n.name
	if memctx.Replaced(n.mc) {
		return s
	}
	if n.ident != "" {
		s += "[" + n.ident + "]"
	}
	if n.parent == nil {
		return s
	}
	return n.parent.path() + "/" + s
}

func (n *node) usable() bool {
	return n.state == "live" || n.state == "abandoned" || n.state == "ended" && n.leases > 0
}

func (n *node) own() int {
	if n.mc == nil { // it did not come to be
		return 0
	}
	if a := memctx.ArenaOf(n.mc); a != nil {
		return a.Stats().Reserved
	}
	return 0
}

// bound returns the node itself, or the next one above, that has a limit or a
// reserve.
func (n *node) bound() *node {
	if n == nil || n.isBound {
		return n
	}
	return n.above()
}

// above returns the next node above that has a limit or a reserve.
func (n *node) above() *node {
	if n.cut {
		return n.up
	}
	return n.parent.bound()
}

// settle makes what the node counts for final.
func (n *node) settle() {
	if !n.cut {
		n.up, n.cut = n.above(), true
	}
}

// unlink takes the node out of its parent's children.
func (n *node) unlink() {
	if p := n.parent; p != nil {
		p.children = slices.DeleteFunc(p.children, func(c *node) bool { return c == n })
	}
}

// isBelow reports whether n is p or below it.
func (n *node) isBelow(p *node) bool {
	for ; n != nil; n = n.parent {
		if n == p {
			return true
		}
	}
	return false
}

// reaches reports whether n is p or below it, and what is between still knows what it was
// below: the place of none of them is another's.
func (n *node) reaches(p *node) bool {
	for ; n != nil && n != p; n = n.parent {
		if memctx.Replaced(n.mc) {
			return false
		}
	}
	return n != nil
}

// unlimited reports whether anything may move below n.
func (n *node) unlimited() bool {
	for ; n != nil; n = n.parent {
		if n.limit > 0 {
			return false
		}
	}
	return true
}

// totals returns what the ledger of each node counts.
func (m *treeModel) totals() map[*node]int {
	below := map[*node][]*node{}
	for _, n := range m.nodes {
		if up := n.above(); up != nil {
			below[up] = append(below[up], n)
		}
	}
	totals := map[*node]int{}
	var total func(n *node) int
	total = func(n *node) int {
		if _, known := totals[n]; !known {
			sum := n.own()
			for _, x := range below[n] {
				sum += max(total(x), x.reserve)
			}
			totals[n] = sum
		}
		return totals[n]
	}
	for _, n := range m.nodes {
		total(n)
	}
	return totals
}

// over reports whether a limit is exceeded.
func (m *treeModel) over() bool {
	for n, total := range m.totals() {
		if n.limit > 0 && max(total, n.reserve) > n.limit {
			return true
		}
	}
	return false
}

// room returns how many bytes there are for the node.
func (m *treeModel) room(n *node) int {
	totals, room, ahead := m.totals(), math.MaxInt, 0
	for ; n != nil; n = n.above() {
		if n.limit > 0 {
			room = min(room, n.limit-totals[n]+ahead)
		}
		ahead += max(n.reserve-totals[n], 0)
	}
	return room
}

// below returns all nodes below n, children before their parents, and what came
// last first.
func (n *node) below() (list []*node) {
	for _, c := range slices.Backward(n.children) {
		list = append(append(list, c.below()...), c)
	}
	return list
}

// run runs callbacks in the model.
func (m *treeModel) run(list *[]callback) {
	for len(*list) > 0 {
		k := len(*list) - 1
		f := (*list)[k]
		*list = (*list)[:k]
		m.want = append(m.want, f.id)
		switch f.does {
		case panics:
			m.last = fmt.Sprint("callback ", f.id)
		case registers:
			m.want = append(m.want, -f.id)
		case moves:
			m.moveInCallback(f)
		}
	}
}

// tryEnd ends a node that was deleted and that nothing holds, and those above that
// wait for it.
func (m *treeModel) tryEnd(n *node) {
	if n.state != "ended" || n.leases > 0 || len(n.children) > 0 {
		return
	}
	n.state = "ending"
	m.run(&n.callbacks)
	n.state = "gone"
	n.settle()
	n.reserve = 0
	m.run(&n.inArena)
	n.unlink()
	if n.forsaken {
		m.kept = append(m.kept, n.things...)
	}
	n.things = nil
	if p := n.parent; p != nil {
		m.tryEnd(p)
	}
}

// reparent moves n to below p, and ends the parent before if that waited for n alone.
func (m *treeModel) reparent(n, p *node) {
	old := n.parent
	if p == old {
		return
	}
	n.unlink()
	if n.parent = p; p != nil {
		p.children = append(p.children, n)
	}
	if old != nil {
		m.tryEnd(old)
	}
}

// moveInCallback does what a callback that moves does.
func (m *treeModel) moveInCallback(f callback) {
	n, p := f.of, f.moves.wish
	if n.parent != nil {
		n = n.parent
	}
	f.moves.what = n.mc
	if p.state == "live" && p.unlimited() && !p.isBelow(n) {
		f.moves.to = p.mc
	} else {
		p = nil
	}
	switch {
	case !n.usable():
		m.last = "memctx: SetParent of the deleted context " + n.path()
	case n.forsaken:
		f.moves.err = fmt.Sprintf("memctx: SetParent of %s to %s: %s was abandoned", n.path(), f.moves.to.Path(), n.path())
	default:
		m.reparent(n, p)
	}
}

// endAll deletes the nodes of the list.
func (m *treeModel) endAll(list []*node) {
	for _, x := range list {
		x.state = "ended" // below a node nothing is gone
	}
	for _, x := range list {
		m.tryEnd(x)
	}
}

// resetOwn resets a node without those below.
func (m *treeModel) resetOwn(n *node, held bool) {
	m.run(&n.callbacks)
	n.resets++
	m.run(&n.inArena)
	if held || n.leases > 0 || n.forsaken {
		m.kept = append(m.kept, n.things...)
	}
	n.things = nil
}

// do runs f, which should panic with m.last, and compares the callbacks that ran.
func (m *treeModel) do(f func()) {
	m.t.Helper()
	func() {
		defer func() {
			if r := recover(); r != m.last {
				m.failf("panics with %v, want %v", r, m.last)
			}
		}()
		f()
	}()
	if !slices.Equal(m.ran, m.want) {
		m.failf("callbacks ran: %v\nwant %v", m.ran, m.want)
	}
	m.ran, m.want, m.last = nil, nil, nil
}

// misuse is do for an operation on a deleted context.
func (m *treeModel) misuse(op string, n *node, f func()) {
	m.t.Helper()
	m.last = "memctx: " + op + " of the deleted context " + n.path()
	m.do(f)
}

// isLimit reports whether err is a LimitError.
func isLimit(err error) bool {
	var e *arena.LimitError
	return errors.As(err, &e) && errors.Is(err, arena.ErrLimit)
}
