//go:build !haven_check

package bump

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
)

// What the check build knows of an arena is here nothing. The methods are called by
// code that this build does not have.

const zone = check.Zone

type (
	shadow struct{}
	known  struct{}
	fence  struct{}
)

func (f *fence) add()           {}
func (f *fence) bytes() uintptr { return 0 }

func newChecked[T any](a *Arena) *T                        { return nil }
func (a *Arena) noteLow(size uintptr)                      {}
func (a *Arena) noteGrown(end uintptr)                     {}
func (a *Arena) noteType(p unsafe.Pointer, t reflect.Type) {}
func (a *Arena) checkAround(p unsafe.Pointer)              {}
func (a *Arena) retire(keep bool) bool                     { return false }
func (a *Arena) abandon(p unsafe.Pointer)                  {}
func (a *Arena) verify()                                   {}
func (r *root) noteChunk(b block, a *Arena)                {}
