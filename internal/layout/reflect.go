package layout

import (
	"math/bits"
	"reflect"
	"strings"
	"sync"
)

// wordSize is the size of a pointer in the running program, in bytes.
const wordSize = bits.UintSize / 8

// Of returns the layout of t in the running program. It panics when t is nil.
// The cost grows with the number of distinct types and fields inside t, not
// with the lengths of arrays; nothing is cached.
func Of(t reflect.Type) *Node {
	if t == nil {
		panic("layout: Of(nil): there is no type")
	}
	return make(builder).node(t)
}

// builder keeps the nodes of one tree, so that a type met many times is built
// once.
type builder map[reflect.Type]*Node

func (b builder) node(t reflect.Type) *Node {
	if n := b[t]; n != nil {
		return n
	}
	n := b.build(t)
	b[t] = n
	return n
}

func (b builder) build(t reflect.Type) *Node {
	name := TypeString(t)
	switch t.Kind() {
	case reflect.Array:
		return Array(name, int64(t.Len()), b.node(t.Elem()))
	case reflect.Struct:
		fields := make([]Field, t.NumField())
		for i := range fields {
			f := t.Field(i)
			fields[i] = Field{Name: f.Name, Offset: int64(f.Offset), Node: b.node(f.Type)}
		}
		return Struct(name, int64(t.Size()), int64(t.Align()), wordSize, fields)
	}
	return Leaf(name, int64(t.Size()), int64(t.Align()), wordSize, leafMask(t))
}

// leafMask returns the pointer words of a type that is neither array nor
// struct.
func leafMask(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		if notInHeap(t.Elem()) {
			return Scalar
		}
		return Pointer
	case reflect.Slice:
		if notInHeap(t.Elem()) {
			return Scalar
		}
		return Slice
	case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return Pointer
	case reflect.String:
		return String
	case reflect.Interface:
		return Interface
	}
	return Scalar
}

// NotInHeapPackage and NotInHeapName name the type by which the compiler
// knows that values do not live in the collected heap: a struct or array that
// contains it is not in the heap either, and pointers to one are no pointers
// to the collector.
const (
	NotInHeapPackage = "internal/runtime/sys"
	NotInHeapName    = "nih"
)

// What is known of struct types, so that HasPointers walks each once. Types
// live as long as the program, so the maps hold on to nothing that would go
// away.
var (
	structNotInHeap   sync.Map // reflect.Type → bool
	structHasPointers sync.Map // reflect.Type → bool
)

func notInHeap(t reflect.Type) bool {
	for t.Kind() == reflect.Array {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return false
	}
	if is, ok := structNotInHeap.Load(t); ok {
		return is.(bool)
	}
	is := t.Name() == NotInHeapName && t.PkgPath() == NotInHeapPackage
	for i := 0; i < t.NumField() && !is; i++ {
		is = notInHeap(t.Field(i).Type)
	}
	structNotInHeap.Store(t, is)
	return is
}

// HasPointers reports whether the collector scans values of type t. It panics
// when t is nil. Any number of goroutines may call it. Types that are not
// composed cost a few nanoseconds; structs, and pointers and slices of structs,
// a map look-up after the first call. Neither allocates then. The lengths of
// arrays do not matter.
func HasPointers(t reflect.Type) bool {
	if t == nil {
		panic("layout: HasPointers(nil): there is no type")
	}
	for t.Kind() == reflect.Array {
		if t.Len() == 0 {
			return false
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return leafMask(t) != Scalar
	}
	if has, ok := structHasPointers.Load(t); ok {
		return has.(bool)
	}
	has := false
	for i := 0; i < t.NumField() && !has; i++ {
		has = HasPointers(t.Field(i).Type)
	}
	structHasPointers.Store(t, has)
	return has
}

// FirstPointer returns where the first pointer word of t is, in a form for
// messages: the way to it and the type found there, such as
// ".Items[0].Next (*list.Item)". For a type that is itself a pointer, a
// string and so on, the way is empty and only "(string)" is left. ok is false
// when there is no pointer. It panics when t is nil. It costs as much as [Of]:
// it is meant for the path that reports an error.
func FirstPointer(t reflect.Type) (path string, ok bool) {
	path, leaf := Of(t).FirstPointer()
	if leaf == nil {
		return "", false
	}
	if path != "" {
		path += " "
	}
	return path + "(" + leaf.Name + ")", true
}

// TypeString returns the name of t as [reflect.Type.String] gives it, with
// any in place of interface {}, its older spelling.
func TypeString(t reflect.Type) string {
	const long = "interface {}"
	s := t.String()
	if !strings.Contains(s, long) {
		return s
	}
	// Struct tags appear quoted in the name; they stay as they are.
	var out strings.Builder
	for s != "" {
		switch {
		case strings.HasPrefix(s, long):
			out.WriteString("any")
			s = s[len(long):]
		case s[0] == '"':
			n := quotedLen(s)
			out.WriteString(s[:n])
			s = s[n:]
		default:
			out.WriteByte(s[0])
			s = s[1:]
		}
	}
	return out.String()
}

// quotedLen returns the length of the quoted string that s starts with.
func quotedLen(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}
