package shape_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/shape"
)

type (
	empty  struct{}
	padded struct {
		a bool
		s string
		b int8
		p *int
		c int16
	}
	// A 64-bit number is aligned to 4 bytes on 386, except through atomic.
	narrow struct {
		a int32
		b int64
		c float64
		d bool
	}
	aligned64 struct {
		a int32
		b atomic.Int64
		p *int
	}
	endsEmpty struct {
		p *int
		b byte
		_ struct{}
	}
	endsEmptyArray struct {
		s string
		_ [0]*int
	}
	blanks struct {
		_ string
		n int
		_ *int
	}
	node struct {
		value       int
		left, right *node
	}
	inner struct {
		ok   bool
		name string
	}
	outer struct {
		inner
		*node
		many [3]inner
		fn   func(int) error
		last [5]byte
	}
	deep struct {
		a [2]struct {
			b [2]struct {
				c uint16
				d map[string]int
			}
			e int
		}
		f any
	}
	pair[K comparable, V any] struct {
		key   K
		value V
		next  *pair[K, V]
	}
	header  map[string][]string
	request struct {
		Method        string
		Header        header
		Body          io.ReadCloser
		ContentLength int64
		Encoding      []string
		Close         bool
		Trailer       header
		Cancel        <-chan struct{}
		ctx           context.Context
		proto         [2]uint16
		when          time.Time
		pat           *node
		matches       []string
		other         map[string]string
	}
	recursive struct {
		kids  []recursive
		byKey map[string]recursive
		up    *recursive
	}
	scalarsLast struct {
		p    *int
		bulk [4000]uint64
	}
	scalarsFirst struct {
		bulk [4000]uint64
		p    *int
	}
	table struct {
		rows [300]struct {
			id   uint32
			name string
			refs [4]*int
		}
		n int
		s []string
	}
	stringer interface{ String() string }
	named    string
	callback func(a, b string) (int, error)
)

// compiled lists types whose masks the compiler wrote.
var compiled = []reflect.Type{
	reflect.TypeFor[bool](),
	reflect.TypeFor[int](),
	reflect.TypeFor[int8](),
	reflect.TypeFor[int16](),
	reflect.TypeFor[int32](),
	reflect.TypeFor[int64](),
	reflect.TypeFor[uint](),
	reflect.TypeFor[uint8](),
	reflect.TypeFor[uint16](),
	reflect.TypeFor[uint32](),
	reflect.TypeFor[uint64](),
	reflect.TypeFor[uintptr](),
	reflect.TypeFor[float32](),
	reflect.TypeFor[float64](),
	reflect.TypeFor[complex64](),
	reflect.TypeFor[complex128](),
	reflect.TypeFor[string](),
	reflect.TypeFor[named](),
	reflect.TypeFor[unsafe.Pointer](),
	reflect.TypeFor[*int](),
	reflect.TypeFor[**node](),
	reflect.TypeFor[[]int](),
	reflect.TypeFor[[][]string](),
	reflect.TypeFor[map[int]string](),
	reflect.TypeFor[chan int](),
	reflect.TypeFor[<-chan empty](),
	reflect.TypeFor[func()](),
	reflect.TypeFor[callback](),
	reflect.TypeFor[any](),
	reflect.TypeFor[error](),
	reflect.TypeFor[stringer](),
	reflect.TypeFor[empty](),
	reflect.TypeFor[[0]string](),
	reflect.TypeFor[[0]int](),
	reflect.TypeFor[[7]empty](),
	reflect.TypeFor[[1]string](),
	reflect.TypeFor[[3]string](),
	reflect.TypeFor[[2][3]any](),
	reflect.TypeFor[[5]bool](),
	reflect.TypeFor[[9]int16](),
	reflect.TypeFor[padded](),
	reflect.TypeFor[narrow](),
	reflect.TypeFor[aligned64](),
	reflect.TypeFor[endsEmpty](),
	reflect.TypeFor[endsEmptyArray](),
	reflect.TypeFor[blanks](),
	reflect.TypeFor[node](),
	reflect.TypeFor[inner](),
	reflect.TypeFor[outer](),
	reflect.TypeFor[[11]outer](),
	reflect.TypeFor[deep](),
	reflect.TypeFor[pair[int8, string]](),
	reflect.TypeFor[pair[[2]any, struct{}]](),
	reflect.TypeFor[pair[string, pair[bool, error]]](),
	reflect.TypeFor[request](),
	reflect.TypeFor[[]request](),
	reflect.TypeFor[recursive](),
	reflect.TypeFor[struct {
		a, b byte
		x    interface{ Close() error }
	}](),
	reflect.TypeFor[atomic.Bool](),
	reflect.TypeFor[atomic.Int32](),
	reflect.TypeFor[atomic.Int64](),
	reflect.TypeFor[atomic.Uint64](),
	reflect.TypeFor[atomic.Value](),
	reflect.TypeFor[atomic.Pointer[node]](),
	reflect.TypeFor[[3]atomic.Pointer[node]](),
	reflect.TypeFor[sync.Mutex](),
	reflect.TypeFor[sync.RWMutex](),
	reflect.TypeFor[sync.Once](),
	reflect.TypeFor[sync.WaitGroup](),
	reflect.TypeFor[sync.Map](),
	reflect.TypeFor[sync.Pool](),
	reflect.TypeFor[sync.Cond](),
	reflect.TypeFor[time.Time](),
	reflect.TypeFor[time.Duration](),
	reflect.TypeFor[time.Timer](),
	reflect.TypeFor[reflect.Value](),
	reflect.TypeFor[reflect.StructField](),
	reflect.TypeFor[bytes.Buffer](),
	reflect.TypeFor[strings.Builder](),
	reflect.TypeFor[bufio.Scanner](),
	reflect.TypeFor[big.Int](),
	reflect.TypeFor[netip.Addr](),
	reflect.TypeFor[netip.Prefix](),
	reflect.TypeFor[regexp.Regexp](),
	reflect.TypeFor[template.Template](),
	reflect.TypeFor[testing.T](),
	// From here on masks are large; some are built on demand.
	reflect.TypeFor[[65]string](),
	reflect.TypeFor[[128]*int](),
	reflect.TypeFor[[130]any](),
	reflect.TypeFor[scalarsLast](),
	reflect.TypeFor[scalarsFirst](),
	reflect.TypeFor[table](),
	reflect.TypeFor[[7]table](),
	reflect.TypeFor[[20]scalarsFirst](),
	reflect.TypeFor[[40000]string](),
	reflect.TypeFor[[200][300]inner](),
}

// compare checks everything a Shape says of t against the collector's data.
func compare(tb testing.TB, t reflect.Type) {
	tb.Helper()
	s := shape.OfType(t)
	ptrBytes, mask := gcMask(tb, t)
	if s.Type() != t || s.Size() != t.Size() || s.Align() != uintptr(t.Align()) {
		tb.Errorf("%v: size/align %d/%d, want %d/%d", t, s.Size(), s.Align(), t.Size(), t.Align())
	}
	if s.PtrBytes() != ptrBytes {
		tb.Errorf("%v: PtrBytes %d, the compiler says %d", t, s.PtrBytes(), ptrBytes)
	}
	if s.PointerFree() != (ptrBytes == 0) || (s.FirstPointer() == "") != (ptrBytes == 0) {
		tb.Errorf("%v: PointerFree %v, FirstPointer %q, but the compiler's PtrBytes is %d", t, s.PointerFree(), s.FirstPointer(), ptrBytes)
	}
	if s.Words() != len(mask) {
		tb.Fatalf("%v: %d words, want %d", t, s.Words(), len(mask))
	}
	count, plain := 0, make([]byte, len(mask))
	for i, want := range mask {
		plain[i] = '0'
		if want {
			count++
			plain[i] = '1'
		}
		if got := s.Pointer(i); got != want {
			tb.Fatalf("%v: word %d: pointer %v, the compiler says %v", t, i, got, want)
		}
	}
	if s.Pointers() != count {
		tb.Errorf("%v: %d pointer words, the compiler has %d", t, s.Pointers(), count)
	}
	if len(mask) == 0 {
		plain = []byte("-")
	}
	if got := expand(tb, s.Bits()); got != string(plain) {
		tb.Errorf("%v: bits %.200s\n  expand to %.200s\n   compiler %.200s", t, s.Bits(), got, plain)
	}
}

// expand undoes the repeat counts of Bits.
func expand(tb testing.TB, bits string) string {
	tb.Helper()
	rest := bits
	var sequence func() string
	sequence = func() string {
		out := ""
		for rest != "" && rest[0] != ')' {
			unit := rest[:1]
			rest = rest[1:]
			if unit == "(" {
				unit = sequence()
				rest = strings.TrimPrefix(rest, ")")
			}
			if strings.HasPrefix(rest, "{") {
				digits, after, ok := strings.Cut(rest[1:], "}")
				n := 0
				for _, d := range digits {
					n = n*10 + int(d-'0')
				}
				if !ok || n < 2 || n*len(unit) > 1<<24 {
					tb.Fatalf("bits %q: bad repeat count %q", bits, digits)
				}
				unit, rest = strings.Repeat(unit, n), after
			}
			out += unit
		}
		return out
	}
	out := sequence()
	if rest != "" {
		tb.Fatalf("bits %q: %q is left over", bits, rest)
	}
	return out
}

func TestAgainstCompiler(t *testing.T) {
	if len(compiled) < 60 {
		t.Fatalf("only %d types", len(compiled))
	}
	for _, typ := range compiled {
		compare(t, typ)
	}
}

func TestString(t *testing.T) {
	type want struct{ on64, on32 string }
	for typ, want := range map[reflect.Type]want{
		reflect.TypeFor[string]():            {"string 16/8 10", "string 8/4 10"},
		reflect.TypeFor[[3]string]():         {"[3]string 48/8 101010", "[3]string 24/4 101010"},
		reflect.TypeFor[any]():               {"any 16/8 01", "any 8/4 01"},
		reflect.TypeFor[int]():               {"int 8/8 0", "int 4/4 0"},
		reflect.TypeFor[bool]():              {"bool 1/1 0", "bool 1/1 0"},
		reflect.TypeFor[[9]byte]():           {"[9]uint8 9/1 00", "[9]uint8 9/1 000"},
		reflect.TypeFor[struct{}]():          {"struct {} 0/1 -", "struct {} 0/1 -"},
		reflect.TypeFor[[0]*int]():           {"[0]*int 0/8 -", "[0]*int 0/4 -"},
		reflect.TypeFor[error]():             {"error 16/8 01", "error 8/4 01"},
		reflect.TypeFor[[]byte]():            {"[]uint8 24/8 100", "[]uint8 12/4 100"},
		reflect.TypeFor[map[int]any]():       {"map[int]any 8/8 1", "map[int]any 4/4 1"},
		reflect.TypeFor[pair[string, any]](): {"shape_test.pair[string,any] 40/8 10011", "shape_test.pair[string,any] 20/4 10011"},
		reflect.TypeFor[padded]():            {"shape_test.padded 48/8 010010", "shape_test.padded 24/4 010010"},
		reflect.TypeFor[[32]string]():        {"[32]string 512/8 " + strings.Repeat("10", 32), "[32]string 256/4 " + strings.Repeat("10", 32)},
		reflect.TypeFor[[33]string]():        {"[33]string 528/8 (10){33}", "[33]string 264/4 (10){33}"},
		reflect.TypeFor[[1000000]string]():   {"[1000000]string 16000000/8 (10){1000000}", "[1000000]string 8000000/4 (10){1000000}"},
		reflect.TypeFor[[4096]byte]():        {"[4096]uint8 4096/1 0{512}", "[4096]uint8 4096/1 0{1024}"},
		reflect.TypeFor[scalarsLast]():       {"shape_test.scalarsLast 32008/8 10{4000}", "shape_test.scalarsLast 32004/4 10{8000}"},
		reflect.TypeFor[scalarsFirst]():      {"shape_test.scalarsFirst 32008/8 0{4000}1", "shape_test.scalarsFirst 32004/4 0{8000}1"},
		reflect.StructOf([]reflect.StructField{{
			Name: "X", Type: reflect.TypeFor[any](), Tag: "interface {}",
		}}): {`struct { X any "interface {}" } 16/8 01`, `struct { X any "interface {}" } 8/4 01`},
	} {
		s := want.on64
		if word == 4 {
			s = want.on32
		}
		if got := shape.OfType(typ).String(); got != s {
			t.Errorf("%v:\n got %s\nwant %s", typ, got, s)
		}
	}
}

// A shape of an array that could never be allocated answers at once.
func TestHugeArray(t *testing.T) {
	length := int(uint64(1) << (5*word - 1)) // 2^39, or 2^19
	typ := reflect.ArrayOf(length, reflect.TypeFor[inner]())
	s := shape.OfType(typ)
	if s.Pointers() != length || s.Words() != 3*length || !s.Pointer(3*length-2) || s.Pointer(3*length-1) {
		t.Errorf("%v: %d pointers in %d words", s, s.Pointers(), s.Words())
	}
	if n := testing.AllocsPerRun(10, func() { shape.OfType(typ) }); n > 40 {
		t.Errorf("%v: %v allocations", s, n)
	}
}

func TestFirstPointer(t *testing.T) {
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[int]():                  "",
		reflect.TypeFor[[0]string]():            "",
		reflect.TypeFor[string]():               "(string)",
		reflect.TypeFor[[4]any]():               "[0] (any)",
		reflect.TypeFor[padded]():               ".s (string)",
		reflect.TypeFor[outer]():                ".inner.name (string)",
		reflect.TypeFor[blanks]():               "._ (string)",
		reflect.TypeFor[table]():                ".rows[0].name (string)",
		reflect.TypeFor[deep]():                 ".a[0].b[0].d (map[string]int)",
		reflect.TypeFor[struct{ a, b []int }](): ".a ([]int)",
	} {
		if got := shape.OfType(typ).FirstPointer(); got != want {
			t.Errorf("%v: first pointer %q, want %q", typ, got, want)
		}
	}
}

func TestZeroShape(t *testing.T) {
	var s shape.Shape
	if s.Type() != nil || s.Size() != 0 || s.Align() != 0 || s.Words() != 0 || s.Pointers() != 0 ||
		s.PtrBytes() != 0 || !s.PointerFree() || s.FirstPointer() != "" || s.Bits() != "" || s.String() != "invalid" {
		t.Errorf("zero Shape: %+v %s", s, s)
	}
}

func TestMisusePanics(t *testing.T) {
	for _, c := range []struct {
		want string
		call func()
	}{
		{"shape: OfType(nil)", func() { shape.OfType(nil) }},
		{"shape: OfType(nil)", func() { shape.OfType(reflect.TypeOf(nil)) }},
		{"shape: Pointer(2) of string, which has 2 words", func() { shape.Of[string]().Pointer(2) }},
		{"shape: Pointer(-1) of string, which has 2 words", func() { shape.Of[string]().Pointer(-1) }},
		{"shape: Pointer(0) of the zero Shape", func() { shape.Shape{}.Pointer(0) }},
	} {
		err := func() (err error) {
			defer func() {
				if r := recover(); r != nil {
					err = errors.New(r.(string))
				}
			}()
			c.call()
			return nil
		}()
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("got panic %v, want %q…", err, c.want)
		}
	}
}
