//go:build !(haven_check && !race && gc && go1.24 && !go1.28 && !haven_nolinkname)

package check

import (
	"reflect"
	"unsafe"
)

// An outside is what an Untyped knows of pointers to Go's heap: here nothing.
type outside struct{}

func (u *Untyped) note(g *region, low bool)     {}
func (u *Untyped) made(unsafe.Pointer, uintptr) {}
func (u *Untyped) begin()                       {}
func (u *Untyped) Lost(look bool) []*Report     { return nil }
func (u *Untyped) forget()                      {}
func (u *Untyped) Abandon(p unsafe.Pointer)     {}
func verifyOutside(live []*Untyped) []*Report   { return nil }
func odd(t reflect.Type) bool                   { return false }
