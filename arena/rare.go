package arena

import (
	"reflect"

	"github.com/haven-mem/haven/internal/account"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/reuse"
)

// A rare has the fields that most arenas do without.
type rare struct {
	limit  int // 0: none
	retain int // 0: the default; -1: nothing
	first  int // 0: the default
	max    int // 0: the default

	callbacks []func()
	calling   bool
	frames    []frame
	positions []position
	serial    uint64

	dyn   map[reflect.Type]*dynamic // lanes of types known at run time only, not in table
	payer account.Payer             // a memory context, or nil
	reuse *reuse.Record             // of its pool, or its own; nil: always
	watch leak.Watch                // of the arenas that the leak finder samples
	made  *leak.Site                // where it was made, or the memory context that has it, if that was sampled
}

// none is the rare of arenas without one. Nobody writes to it.
var none rare

// seldom returns the fields that most arenas do without, to be read.
func (a *Arena) seldom() *rare {
	if a.rare == nil {
		return &none
	}
	return a.rare
}

// makeRare returns them to be written.
func (a *Arena) makeRare() *rare {
	if a.rare == nil {
		a.rare = new(rare)
	}
	return a.rare
}
