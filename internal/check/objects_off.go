//go:build !haven_check

package check

import (
	"reflect"
	"unsafe"
)

// Objects is what the check build knows of the objects of a cache: here nothing.
// The methods are called by code that this build does not have.
type Objects struct{}

func (o *Objects) Alloc(p unsafe.Pointer, name, owner string, t reflect.Type) {}
func (o *Objects) Check(p unsafe.Pointer, owner string) *Report               { return nil }
func (o *Objects) Free(p unsafe.Pointer, restore func())                      {}
func (o *Objects) Leave(all bool, back func(Held)) *Report                    { return nil }
func (o *Objects) Waiting() int                                               { return 0 }
