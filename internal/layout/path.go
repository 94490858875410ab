package layout

import (
	"fmt"
	"reflect"
)

// PathAt returns the way from a value of type t to the part of it that has the byte
// at an offset, such as ".Items[3].Next". It ends where nothing is composed, at
// padding, and behind the end of the value. For a type that is not composed it is
// "".
func PathAt(t reflect.Type, off uintptr) string {
	path := ""
	for off < t.Size() {
		switch t.Kind() {
		case reflect.Array:
			size := t.Elem().Size()
			path += fmt.Sprintf("[%d]", off/size)
			t, off = t.Elem(), off%size
		case reflect.Struct:
			f, ok := fieldWith(t, off)
			if !ok {
				return path
			}
			path += "." + f.Name
			t, off = f.Type, off-f.Offset
		default:
			return path
		}
	}
	return path
}

// fieldWith returns the field that has the byte at an offset.
func fieldWith(t reflect.Type, off uintptr) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); f.Offset <= off && off < f.Offset+f.Type.Size() {
			return f, true
		}
	}
	return reflect.StructField{}, false
}
