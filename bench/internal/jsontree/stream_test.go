package jsontree_test

import (
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

func TestParseStream(t *testing.T) {
	for _, c := range []struct {
		in   string
		want string // rendered
	}{
		{"", ""},
		{" \n\t", ""},
		{"1", "1\n"},
		{"1 2", "1\n2\n"},
		{"{}{}", "{}\n{}\n"},
		{"[1][2]", "[1]\n[2]\n"},
		{`"a""b"`, "\"a\"\n\"b\"\n"},
		{"{\"a\": 1}\n{\"b\": [ ]}\n", "{\"a\":1}\n{\"b\":[]}\n"},
		{"null\nnull", "null\nnull\n"},
	} {
		n, err := jsontree.ParseStream(jsontree.Heap{}, []byte(c.in))
		if err != nil {
			t.Errorf("ParseStream(%q): %v", c.in, err)
			continue
		}
		if got := string(jsontree.AppendJSON(nil, n)); got != c.want {
			t.Errorf("ParseStream(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// TestStreamPairs puts every kind of document next to every other, with and
// without something between them.
func TestStreamPairs(t *testing.T) {
	documents := []string{
		`null`, `true`, `false`, `0`, `-1`, `12`, `1.5`, `1e5`, `""`, `"a"`, `"\n"`, `[]`, `[1]`, `{}`, `{"a":1}`,
		`nul`, `-`, `1.`, `1e`, `"`, `[`, `{`, `]`, `}`, `,`, `:`, `x`,
	}
	for _, a := range documents {
		for _, b := range documents {
			for _, between := range []string{"", " ", "\n", ",", "\v", ":"} {
				agree(t, []byte(a+between+b))
				agree(t, []byte(" "+a+between+b+"\n"))
			}
		}
	}
}
