package shapecmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/token"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"text/template"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/cmd/haven/internal/shapecmd"
	"github.com/haven-mem/haven/shape"
)

// run runs the command and returns its output; it fails the test when the
// command does.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := shapecmd.Run(args, &stdout, &stderr); status != 0 || stderr.Len() > 0 {
		t.Fatalf("haven shape %q: status %d, stderr %s", args, status, &stderr)
	}
	return stdout.String()
}

func same(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

type report struct {
	Arch  string
	Word  int
	Types []struct {
		Expr, Type         string
		Size, Align, Words uintptr
		Pointers           int     `json:"pointer_words"`
		PtrBytes           uintptr `json:"ptr_bytes"`
		PointerFree        bool    `json:"pointer_free"`
		Bits               string
		Padding            uintptr
		Sorted             uintptr `json:"size_if_sorted"`
		Fields             []struct {
			Name, Type            string
			Offset, Size, Padding uintptr
		}
	}
}

func runJSON(t *testing.T, args ...string) report {
	t.Helper()
	var r report
	if err := json.Unmarshal([]byte(run(t, append([]string{"-json"}, args...)...)), &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSameAsRuntime compares with the shapes of the running program.
func TestSameAsRuntime(t *testing.T) {
	types := []struct {
		expr string
		typ  reflect.Type
	}{
		{"int", reflect.TypeFor[int]()},
		{"bool", reflect.TypeFor[bool]()},
		{"complex128", reflect.TypeFor[complex128]()},
		{"string", reflect.TypeFor[string]()},
		{"any", reflect.TypeFor[any]()},
		{"error", reflect.TypeFor[error]()},
		{"[]byte", reflect.TypeFor[[]byte]()},
		{"*int", reflect.TypeFor[*int]()},
		{"map[int]string", reflect.TypeFor[map[int]string]()},
		{"<-chan time.Time", reflect.TypeFor[<-chan time.Time]()},
		{"func(...time.Time) error", reflect.TypeFor[func(...time.Time) error]()},
		{"unsafe.Pointer", reflect.TypeFor[unsafe.Pointer]()},
		{"struct{}", reflect.TypeFor[struct{}]()},
		{"[0]string", reflect.TypeFor[[0]string]()},
		{"[3]string", reflect.TypeFor[[3]string]()},
		{"[1000000]string", reflect.TypeFor[[1000000]string]()},
		{"[unsafe.Sizeof(uintptr(0))]any", reflect.TypeFor[[unsafe.Sizeof(uintptr(0))]any]()},
		{"struct{ a bool; b int64; c bool; d float64 }", reflect.TypeFor[struct {
			a bool
			b int64
			c bool
			d float64
		}]()},
		{"struct{ p *int; _ struct{} }", reflect.TypeFor[struct {
			p *int
			_ struct{}
		}]()},
		{"struct{ n int32; a sync/atomic.Int64 }", reflect.TypeFor[struct {
			n int32
			a atomic.Int64
		}]()},
		{"sync/atomic.Pointer[int]", reflect.TypeFor[atomic.Pointer[int]]()},
		{"time.Time", reflect.TypeFor[time.Time]()},
		{"sync.Mutex", reflect.TypeFor[sync.Mutex]()},
		{"sync.Map", reflect.TypeFor[sync.Map]()},
		{"reflect.Value", reflect.TypeFor[reflect.Value]()},
		{"bytes.Buffer", reflect.TypeFor[bytes.Buffer]()},
		{"text/template.Template", reflect.TypeFor[template.Template]()},
		{"token.Position", reflect.TypeFor[token.Position]()}, // go/token, by its last part
		{"net/http.Request", reflect.TypeFor[http.Request]()},
		{"http.Header", reflect.TypeFor[http.Header]()},
		{"[2]http.Transport", reflect.TypeFor[[2]http.Transport]()},
	}
	var exprs []string
	for _, typ := range types {
		exprs = append(exprs, typ.expr)
	}
	got := runJSON(t, exprs...)
	if got.Word != strconv.IntSize/8 || len(got.Types) != len(types) {
		t.Fatalf("word %d, %d types", got.Word, len(got.Types))
	}
	for i, g := range got.Types {
		want := shape.OfType(types[i].typ)
		if g.Expr != types[i].expr || g.Size != want.Size() || g.Align != want.Align() || int(g.Words) != want.Words() ||
			g.Pointers != want.Pointers() || g.PtrBytes != want.PtrBytes() || g.Bits != want.Bits() || g.PointerFree != want.PointerFree() {
			t.Errorf("%s: %+v\nwant %v", types[i].expr, g, want)
		}
		if types[i].typ.Kind() != reflect.Struct {
			continue
		}
		for j, f := range g.Fields {
			if w := types[i].typ.Field(j); f.Name != w.Name || f.Offset != w.Offset || f.Size != w.Type.Size() {
				t.Errorf("%s: field %+v, want %+v", types[i].expr, f, w)
			}
		}
	}
}

func TestTable(t *testing.T) {
	same(t, run(t, "-arch", "amd64", "any", "[3]string", "int", "[1000000]string", "struct{}"), `
TYPE             SIZE      ALIGN  POINTERS            BITS           GC
any              16        8      1 of 2              01             scans 16 of 16 bytes
[3]string        48        8      3 of 6              101010         scans 40 of 48 bytes
int              8         8      0 of 1              0              pointer-free
[1000000]string  16000000  8      1000000 of 2000000  (10){1000000}  scans 15999992 of 16000000 bytes
struct{}         0         1      0 of 0              -              pointer-free`)
	// Flags may follow the types.
	same(t, run(t, "struct{ a int64; b string }", "any", "-arch=386"), `
TYPE                         SIZE  ALIGN  POINTERS  BITS  GC
struct{ a int64; b string }  16    4      1 of 4    0010  scans 12 of 16 bytes
any                          8     4      1 of 2    01    scans 8 of 8 bytes`)
}

func TestFields(t *testing.T) {
	const node = `
  OFFSET  SIZE  FIELD      TYPE          BITS
  0       1     leaf       bool          0
  1       7     (padding)                
  8       16    name       string        10
  24      2     depth      int16         0
  26      6     (padding)                
  32      8     next       *sample.Node  1
  40      1     kind       byte          0
  41      7     (padding)                
  padding: 20 of 48 bytes; 32 bytes with the fields in falling order of alignment`
	same(t, run(t, "-arch", "amd64", "./testdata/sample", "Node"), `
TYPE  SIZE  ALIGN  POINTERS  BITS    GC
Node  48    8      2 of 6    010010  scans 40 of 48 bytes

Node`+node)
	out := run(t, "-arch", "amd64", "-fields", "./testdata/sample", "Node", "int")
	if !strings.Contains(out, node) {
		t.Errorf("-fields does not show the fields:\n%s", out)
	}
	if out := run(t, "./testdata/sample", "Node", "int"); strings.Contains(out, "OFFSET") {
		t.Errorf("fields of two types without -fields:\n%s", out)
	}
	out = run(t, "-arch", "amd64", "struct{ a int64; b bool }")
	if !strings.Contains(out, "padding: 7 of 16 bytes; no order of the fields is smaller") {
		t.Errorf("padding that cannot be avoided:\n%s", out)
	}
}

func TestUserPackage(t *testing.T) {
	// All types: no generic ones, no constraints, unexported ones too.
	same(t, run(t, "-arch", "amd64", "./testdata/sample"), `
TYPE   SIZE  ALIGN  POINTERS  BITS             GC
Node   48    8      2 of 6    010010           scans 40 of 48 bytes
names  8     8      1 of 1    1                scans 8 of 8 bytes
visit  120   8      5 of 15   001001100010010  scans 112 of 120 bytes`)
	// Expressions mean what they mean in the package; its own name, its
	// imports and other packages can be named.
	got := runJSON(t, "-arch", "amd64", "./testdata/sample", "List[Node]", "*sample.List[int]", "[2]names", "netip.Addr",
		"struct{ Node; t time.Time; r net/http.Request }", "github.com/haven-mem/haven/shape.Shape")
	want := []struct {
		bits string
		size uintptr
	}{
		{"100010010", 72}, {"1", 8}, {"11", 16}, {"001", 24}, {"", 48 + 24 + 304}, {"011", 24},
	}
	for i, w := range want {
		g := got.Types[i]
		if w.bits != "" && g.Bits != w.bits || g.Size != w.size {
			t.Errorf("%s: %d bytes %s, want %d %s", g.Expr, g.Size, g.Bits, w.size, w.bits)
		}
	}
	const pkg = "github.com/haven-mem/haven/cmd/haven/internal/shapecmd/testdata/sample"
	if name := got.Types[0].Type; name != pkg+".List["+pkg+".Node]" {
		t.Errorf("full name %s", name)
	}
}

func TestOtherArchitectures(t *testing.T) {
	for arch, want := range map[string]string{
		"386":   "24/4 001010", // 64-bit numbers are two words, aligned to one
		"arm":   "24/4 001010",
		"mips":  "24/4 001010",
		"amd64": "40/8 01010",
		"arm64": "40/8 01010",
		"s390x": "40/8 01010",
		"wasm":  "40/8 01010",
	} {
		got := runJSON(t, "-arch", arch, "struct{ n int64; p *int; f float32; s string }").Types[0]
		if s := fmt.Sprintf("%d/%d %s", got.Size, got.Align, got.Bits); s != want {
			t.Errorf("%s: %s, want %s", arch, s, want)
		}
	}
}

func TestHelp(t *testing.T) {
	if out := run(t, "-h"); !strings.HasPrefix(out, "usage: haven shape") || !strings.Contains(out, "-fields") {
		t.Errorf("help:\n%s", out)
	}
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // what the line must have, in this order
	}{
		{nil, "no type given; accepted:"},
		{[]string{""}, "empty argument; accepted:"},
		{[]string{"-x", "int"}, "-x; accepted: -arch name"},
		{[]string{"-arch", "z80", "int"}, `-arch "z80"|accepted: 386, amd64`},
		{[]string{"int", "[3]foo"}, `"[3]foo": column 4: undefined: foo; accepted:`},
		{[]string{"map[int"}, `"map[int": column 8: expected ']'|accepted:`},
		{[]string{"net/http.Header", "struct{ h net/http.Header; y [3]foo }"}, `column 33: undefined: foo`},
		{[]string{"[2]net/http.Nope"}, `"[2]net/http.Nope": column 13: undefined: http.Nope`},
		{[]string{"nosuch.Thing"}, `no package "nosuch"; accepted:`},
		{[]string{"nosuch.example/a/b.Thing"}, `no package "nosuch.example/a/b"; accepted:`},
		{[]string{"std.Thing"}, `no package "std"`},
		{[]string{"template.Template"}, `"template" is ambiguous; accepted: html/template, text/template`},
		{[]string{"1 + 2"}, `"1 + 2": column 1:`},
		{[]string{"int; type x int"}, `column 4: expected`},
		{[]string{"sync/atomic.Pointer"}, "without instantiation"},
		{[]string{"interface{ ~int }"}, "is a constraint"},
		{[]string{"-arch", "amd64", "[1<<60]int"}, "too large"},
		{[]string{"-arch", "386", "[1<<29]int64"}, "too large for 386"},
		{[]string{"[-1]int"}, "column 2: invalid array length"},
		{[]string{"./testdata/sample", "Nope"}, `"Nope": column 1: undefined: Nope`},
		{[]string{"./testdata/sample", "List"}, "without instantiation"},
		{[]string{"./testdata/nosuch", "X"}, "./testdata/nosuch: |directory not found"},
		{[]string{"./testdata", "X"}, "./testdata: |no Go"},
		{[]string{"./...", "X"}, "./...: a pattern of many packages; accepted: one directory"},
		{[]string{"./testdata/broken", "Bad"}, "./testdata/broken: |broken.go:4:20: undefined: missing"},
	} {
		var stdout, stderr bytes.Buffer
		status := shapecmd.Run(c.args, &stdout, &stderr)
		line := stderr.String()
		if status != 2 || stdout.Len() > 0 || !strings.HasPrefix(line, "haven shape: ") || strings.Count(line, "\n") != 1 {
			t.Errorf("%q: status %d, stdout %q, stderr %q", c.args, status, &stdout, line)
		}
		rest := line
		for _, part := range strings.Split(c.want, "|") {
			_, after, ok := strings.Cut(rest, part)
			if !ok {
				t.Errorf("%q: stderr %q, want %q in it", c.args, line, part)
				break
			}
			rest = after
		}
	}
}
