//go:build !haven_check

package slab_test

import (
	"fmt"

	"github.com/haven-mem/haven/slab"
)

// In the check build, the object that was freed waits before it comes back.
func ExampleConfig_reset() {
	type Parser struct {
		Input  string
		Tokens []string
	}
	parsers := slab.NewCache[Parser](slab.Config[Parser]{Reset: func(p *Parser) {
		p.Input = ""
		clear(p.Tokens) // drops what they refer to
		p.Tokens = p.Tokens[:0]
	}})
	p := parsers.Alloc()
	p.Input = "a b c"
	p.Tokens = append(p.Tokens, "a", "b", "c")
	parsers.Free(p)
	p = parsers.Alloc()
	fmt.Printf("%q %d %d\n", p.Input, len(p.Tokens), cap(p.Tokens))
	// Output: "" 0 3
}
