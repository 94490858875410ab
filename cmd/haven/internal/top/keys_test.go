package top

import (
	"reflect"
	"slices"
	"testing"
)

func TestKeys(t *testing.T) {
	for _, tc := range []struct {
		input []string // as they are read
		want  []key
	}{
		{[]string{"q"}, []key{'q'}},
		{[]string{"\x03"}, []key{keyInterrupt}},
		{[]string{"\x1b[A\x1b[B\x1b[C\x1b[D"}, []key{keyUp, keyDown, keyRight, keyLeft}},
		{[]string{"\x1bOA\x1bOH\x1bOF"}, []key{keyUp, keyHome, keyEnd}},
		{[]string{"\x1b[5~\x1b[6~\x1b[1~\x1b[4~\x1b[7~\x1b[8~\x1b[H\x1b[F"}, []key{keyPageUp, keyPageDown, keyHome, keyEnd, keyHome, keyEnd, keyHome, keyEnd}},
		{[]string{"\t\x1b[Z"}, []key{keyTab, keyLeft}},
		{[]string{"\x1b[1;5A"}, []key{keyUp}},
		{[]string{"\x1b[15~\x1b[3~q"}, []key{keyHome, keyUnknown, 'q'}},
		{[]string{"\x1b"}, []key{keyEscape}},
		{[]string{"\x1b", "[", "6", "~", "b"}, []key{keyEscape, keyPageDown, 'b'}},
		{[]string{"b\x1b", "[A"}, []key{'b', keyUp}},
		{[]string{"\x1b[", "Ab"}, []key{keyUp, 'b'}},
		{[]string{"\x1bq"}, []key{keyUnknown}}, // Alt-Q
		{[]string{"\x1b\x1b[A"}, []key{keyUp}},
		{[]string{"äq"}, []key{'q'}},
	} {
		var d keyDecoder
		var got []key
		for _, input := range tc.input {
			got = append(got, d.decode([]byte(input))...)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%q: %v, want %v", tc.input, got, tc.want)
		}
	}
}

func TestPress(t *testing.T) {
	// What a key changes, on a screen of 10 rows of 100.
	for _, tc := range []struct {
		keys []key
		want func(s *state)
		last action
	}{
		{[]key{'c'}, func(s *state) { s.view = contextsView }, redraw},
		{[]key{'m'}, func(s *state) { s.view = namesView }, redraw},
		{[]key{'i'}, func(s *state) { s.view = limitsView }, redraw},
		{[]key{'s'}, func(s *state) { s.view = cachesView }, redraw},
		{[]key{'p'}, func(s *state) { s.view = poolsView }, redraw},
		{[]key{'l'}, func(s *state) { s.view = leaksView }, redraw},
		{[]key{'c', 't'}, func(s *state) {}, redraw},
		{[]key{keyTab}, func(s *state) { s.view = contextsView }, redraw},
		{[]key{keyLeft}, func(s *state) { s.view = leaksView }, redraw},
		{[]key{keyLeft, keyRight}, func(s *state) {}, redraw},
		{[]key{'k'}, func(s *state) { s.sorts[treeView] = "chunks" }, redraw},
		{[]key{'a'}, func(s *state) { s.sorts[treeView] = "age" }, redraw},
		{[]key{'n'}, func(s *state) { s.sorts[treeView] = "name" }, redraw},
		{[]key{'n', 'b'}, func(s *state) {}, redraw},
		{[]key{'>'}, func(s *state) { s.sorts[treeView] = "own" }, redraw},
		{[]key{'<'}, func(s *state) { s.sorts[treeView] = "name" }, redraw},
		{[]key{'n', 'c', 'a', 't'}, func(s *state) { s.sorts[treeView], s.sorts[contextsView] = "name", "age" }, redraw},
		{[]key{'i', 'b'}, func(s *state) { s.view, s.message = limitsView, "limits: not sorted by bytes, but by full, name" }, redraw},
		{[]key{'i', 'b', keyDown, keyUp}, func(s *state) { s.view = limitsView }, redraw},
		{[]key{keyDown, keyDown, keyUp}, func(s *state) { s.offset = 1 }, redraw},
		{[]key{keyUp}, func(s *state) {}, redraw},
		{[]key{keyPageDown}, func(s *state) { s.offset = 9 }, redraw},
		{[]key{keyPageDown, keyPageDown, keyPageUp}, func(s *state) { s.offset = 9 }, redraw},
		{[]key{keyEnd, keyDown}, func(s *state) { s.offset = 90 }, redraw},
		{[]key{keyEnd, keyHome}, func(s *state) {}, redraw},
		{[]key{keyEnd, 'n'}, func(s *state) { s.sorts[treeView] = "name" }, redraw},
		{[]key{keyEnd, 'p'}, func(s *state) { s.view = poolsView }, redraw},
		{[]key{keyEnd, 't'}, func(s *state) { s.offset = 90 }, redraw},
		{[]key{' '}, func(s *state) { s.paused = true }, redraw},
		{[]key{' ', ' '}, func(s *state) {}, refresh},
		{[]key{'?'}, func(s *state) { s.help = true }, redraw},
		{[]key{'?', 'c'}, func(s *state) {}, redraw}, // goes back only
		{[]key{'?', keyEscape}, func(s *state) {}, redraw},
		{[]key{'?', 'q'}, func(s *state) { s.help = true }, quit},
		{[]key{'q'}, func(s *state) {}, quit},
		{[]key{keyInterrupt}, func(s *state) {}, quit},
		{[]key{keyUnknown, keyEscape, 'Q', 'z'}, func(s *state) {}, redraw},
	} {
		got, want := fixedState(t), fixedState(t)
		want.last = got.last
		tc.want(want)
		var last action
		for _, k := range tc.keys {
			last = got.press(k, 10, 100)
		}
		if last != tc.last || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: action %d and\n%+v, want %d and\n%+v", tc.keys, last, got, tc.last, want)
		}
	}
	// A screen that has more room than rows, or none, does not scroll.
	for _, size := range [][2]int{{100, 10}, {0, 0}, {0, 5}} {
		s := fixedState(t)
		for _, k := range []key{keyDown, keyPageDown, keyEnd, keyPageUp} {
			s.press(k, size[0], size[1])
			if s.offset < 0 || s.offset > size[1] || size[0] >= size[1] && s.offset != 0 {
				t.Errorf("%v: offset %d", size, s.offset)
			}
		}
	}
}
