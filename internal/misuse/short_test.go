package misuse_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A short is a row of MISTAKES.md: mistakes that are one to whoever makes them. What is
// said of them comes from the tables of the modes.
type short struct {
	text      string
	scenarios []string
	kinds     []string // none: all that know the mistakes
	then      string   // in the default build, where nothing is said
}

var bumps = []string{"bump", "slice"}

var shorts = []short{
	{"memory read after `Reset`, `Release`, `Free`, `Put` or `Delete`", []string{"a number read after the release",
		"a number read after the release and a collection"}, nil, "it is zero, or another's"},
	{"memory written after that", []string{"a number written after the release", "a pointer written after the release"},
		nil, "somebody's new memory is not zero"},
	{"a pointer, string or slice that lay there is followed", []string{"a pointer followed after the release",
		"a string read after the release", "a slice's element written after the release"}, nil, "it is nil, or another's"},
	{"a pointer kept over the release, and not used yet", []string{"a pointer kept in a global variable, not used",
		"a pointer kept by a goroutine that waits"}, nil, "nothing, until it is used"},
	{"an arena or context used, or ended again, after its `Free` or `Delete`", []string{usedAfterEnd, endedTwice, staleArena}, nil, ""},
	{"a second `Free` or `Put` of an object", []string{"an object released twice",
		"an object released twice, others in between", ownTwice}, nil, "two have one object"},
	{"`Free` of another cache's pointer, or the heap's, or into an object", []string{foreign, heapReleased, interior},
		[]string{"cache Free", "cache Clear", "local"}, "another cache's memory is handed out"},
	{"a write up to 8 bytes beside memory of `bump`", []string{"a byte written behind the end",
		"a byte written 8 behind the end", "a byte written before the start", "a byte written 8 before the start"}, bumps, "a neighbour changes"},
	{"the only pointer to a heap object in memory of `bump`", []string{heapPointer,
		"a heap string stored where the collector does not look",
		"a heap value in an interface stored where the collector does not look"}, bumps, "the object goes, the pointer stays"},
	{"a copy of an arena, lane, `Local` or `Table` used", []string{copied}, nil, "both hand out the same memory"},
	{"two goroutines use what is for one at a time", []string{"used by two goroutines in turns, unsynchronised", atOnce}, nil, "anything"},
	{"a context that is never deleted, a lease never given back", []string{neverEnded}, nil, "its memory stays"},
}

// columns are the modes of each column behind the default build's.
var columns = []struct {
	title string
	modes []string
}{
	{"`-tags haven_check`", []string{"check"}},
	{"[guard](#in-production)", []string{"guard"}},
	{"[sanitizers](#sanitizers)", []string{"race", "asan", "msan"}},
	{"[stale pointers](#pointers-that-nobody-has-used-yet)", []string{"stale"}},
}

// TestMatrixShort compares the table of MISTAKES.md with those of the modes.
func TestMatrixShort(t *testing.T) {
	tables := map[string]*table{}
	for _, m := range modes {
		tables[m.name] = m.table(t)
	}
	all := trials(false)
	head := []string{"mistake", "default build"}
	for _, c := range columns {
		head = append(head, c.title)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | `go vet` |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)+1))
	for _, s := range shorts {
		mine, vet := s.of(t, all)
		first := share(tables["default"], mine)
		if (s.then == "") != (first == "at once") {
			t.Errorf("%s: the default build finds it %s, and the row says then %q", s.text, first, s.then)
		}
		cells := []string{s.text, strings.TrimSuffix(first+": "+s.then, ": ")}
		if first == "at once" {
			cells[1] += ": panic"
		}
		for _, c := range columns {
			var found []string
			for _, m := range c.modes {
				w := share(tables[m], mine)
				if len(c.modes) == 1 {
					found = append(found, w)
				} else if w != first && w != "no" { // a sanitizer's own
					found = append(found, m+" "+w)
				}
			}
			if found == nil {
				found = []string{first}
			}
			cells = append(cells, strings.Join(found, ", "))
		}
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(cells, " | "), vet)
	}
	compare(t, "../../MISTAKES.md", b.String())
}

// of returns the trials of a row, and what go vet says of them, which knows of copies.
func (s *short) of(t *testing.T, all []*trial) (mine []*trial, vet string) {
	vet = "no"
	for _, name := range s.scenarios {
		before := len(mine)
		for _, x := range all {
			if x.name == name && (s.kinds == nil || slices.Contains(s.kinds, x.kind.name)) {
				mine = append(mine, x)
				if name == copied {
					vet = "yes"
				}
			}
		}
		if len(mine) == before {
			t.Errorf("%s: no trial is called %q", s.text, name)
		}
	}
	if vet == "yes" {
		for _, x := range mine {
			if !uncopied(reflect.TypeOf(x.kind.make().owner).Elem()) {
				vet = "in part"
			}
		}
	}
	return mine, vet
}

// uncopied reports whether go vet reports copies of a struct: of one with a field whose
// address is a sync.Locker.
func uncopied(typ reflect.Type) bool {
	for i := range typ.NumField() {
		f := typ.Field(i).Type
		if reflect.PointerTo(f).Implements(reflect.TypeFor[sync.Locker]()) || f.Kind() == reflect.Struct && uncopied(f) {
			return true
		}
	}
	return false
}

// share returns when trials are found, in a few words: "mostly" is two of three, with
// those that cannot be made left out.
func share(g *table, list []*trial) string {
	count := map[string]int{}
	all := 0
	for _, x := range list {
		if o := g.of(x); o.when != "-" {
			count[o.when]++
			all++
		}
	}
	found := count["at once"] + count["later"]
	when := "at once or later"
	switch found {
	case 0:
		return "no"
	case count["later"]:
		when = "later"
	case count["at once"]:
		when = "at once"
	}
	switch {
	case found == all:
		return when
	case 3*found >= 2*all:
		return "mostly " + when
	}
	return "in part"
}
