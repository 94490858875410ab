//go:build !haven_check

package check

import (
	"reflect"
	"unsafe"
)

// Zone is the size in bytes of a red zone: there are none in this build.
const Zone = 0

// Untyped is what the check build knows of untyped memory: here nothing. The methods
// are called by code that this build does not have.
type Untyped struct{}

func NewUntyped(owner string) *Untyped                              { return nil }
func (u *Untyped) Add(mem unsafe.Pointer, size uintptr)             {}
func (u *Untyped) Low(at, size uintptr, site Site)                  {}
func (u *Untyped) High(at, size uintptr, t reflect.Type, site Site) {}
func (u *Untyped) Grow(size uintptr)                                {}
func (u *Untyped) SetType(p unsafe.Pointer, t reflect.Type)         {}
func (u *Untyped) Around(p unsafe.Pointer) *Report                  { return nil }
func (u *Untyped) Latest() *Report                                  { return nil }
func (u *Untyped) Lost(look bool) []*Report                         { return nil }
func (u *Untyped) Damage() []*Report                                { return nil }
func (u *Untyped) Abandon(p unsafe.Pointer)                         {}
func (u *Untyped) Clear()                                           {}
func (u *Untyped) Forget()                                          {}
func (u *Untyped) Release(i int, lo, hi uintptr, site Site) *Released {
	return nil
}

func verifyUntyped() []*Report { return nil }

func odd(t reflect.Type) bool { return false }
