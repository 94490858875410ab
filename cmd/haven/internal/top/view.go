package top

import (
	"cmp"
	"slices"

	"github.com/haven-mem/haven/debugpage"
)

// A view is one way to look at the figures.
type view struct {
	name  string   // as the flag takes it
	title string   // as the screen shows it
	key   key      // that chooses it
	empty string   // what is said when there are no rows
	sorts []string // what it can be sorted by, the default first
	table func(s *debugpage.Stats, sort string) table
}

// views in the order of the screen's last line; the first is the default.
var views = []*view{treeView, contextsView, namesView, limitsView, cachesView, poolsView, leaksView}

func viewNamed(name string) *view {
	for _, v := range views {
		if v.name == name {
			return v
		}
	}
	return nil
}

func viewNames() []string {
	var names []string
	for _, v := range views {
		names = append(names, v.name)
	}
	return names
}

// A table is a view of one reading. The name of a row comes last on its line,
// where it gets the room that is left.
type table struct {
	columns []heading
	last    string // heading of the names
	rows    []row
}

type heading struct {
	title string
	left  bool // text, not numbers
	// rank says which columns go when the screen is narrow: the highest first.
	// Those of rank 0 stay.
	rank int
}

type row struct {
	cells  []string // one for each column; none where the row is a remark
	name   string
	note   string // behind the name, whatever becomes of that
	indent int
	mark   mark
}

// A mark is why a row looks different.
type mark int

const (
	plain mark = iota
	near       // a limit is near
	faint      // not alive any more, or a remark
)

// A column makes the cells of values of one type.
type column[T any] struct {
	heading
	cell func(*T) string
}

// An order is a way to sort values of one type.
type order[T any] struct {
	name    string
	compare func(a, b *T) int
}

// descending sorts by a figure, largest first.
func descending[T any, N cmp.Ordered](name string, figure func(*T) N) order[T] {
	return order[T]{name, func(a, b *T) int { return cmp.Compare(figure(b), figure(a)) }}
}

// byName sorts alphabetically.
func byName[T any](name func(*T) string) order[T] {
	return order[T]{"name", func(a, b *T) int { return cmp.Compare(name(a), name(b)) }}
}

func orderNames[T any](orders []order[T]) []string {
	var names []string
	for _, o := range orders {
		names = append(names, o.name)
	}
	return names
}

// sorted returns pointers to the values of list in the order of that name. Those
// that it does not tell apart stay as they are: the page lists them in an order
// that does not change from reading to reading.
func sorted[T any](list []T, orders []order[T], name string) []*T {
	pointers := make([]*T, len(list))
	for i := range list {
		pointers[i] = &list[i]
	}
	for _, o := range orders {
		if o.name == name {
			slices.SortStableFunc(pointers, o.compare)
		}
	}
	return pointers
}

func headings[T any](columns []column[T]) []heading {
	var list []heading
	for _, c := range columns {
		list = append(list, c.heading)
	}
	return list
}

func cellsOf[T any](columns []column[T], v *T) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = c.cell(v)
	}
	return list
}

// isNear reports whether four fifths of a limit are used, as the page does.
func isNear[N integer](used, limit N) bool { return limit > 0 && used >= limit-limit/5 }
