package jsontree_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

func Example() {
	root, err := jsontree.Parse(jsontree.Heap{}, []byte(`{"name": "haven", "sizes": [8, 16, 24]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for member := root.Child; member != nil; member = member.Next {
		fmt.Printf("%s is the %v %q\n", member.Key, member.Kind, member.Text)
	}
	fmt.Println(jsontree.Count(root), string(jsontree.AppendJSON(nil, root)))

	_, err = jsontree.Parse(jsontree.Heap{}, []byte("{\n  \"name\": \"haven\",\n}"))
	fmt.Println(err)
	// Output:
	// name is the string "haven"
	// sizes is the array ""
	// 6 {"name":"haven","sizes":[8,16,24]}
	// line 3, column 1: unexpected '}' after ',' (want a string key)
}

// TestNodeSize guards the promise of Node's documentation.
func TestNodeSize(t *testing.T) {
	if size := reflect.TypeFor[jsontree.Node]().Size(); strconv.IntSize == 64 && size != 64 {
		t.Errorf("a Node takes %d bytes, want 64", size)
	}
}

func TestCount(t *testing.T) {
	for in, want := range map[string]int{
		`1`: 1, `[]`: 1, `[1,2,3]`: 4, `{"a":{"b":[]}}`: 3, `[[[]],[],{"a":[1,2]}]`: 8,
	} {
		n, err := jsontree.Parse(jsontree.Heap{}, []byte(in))
		if err != nil || jsontree.Count(n) != want {
			t.Errorf("Count(%s) = %d, %v, want %d", in, jsontree.Count(n), err, want)
		}
	}
	if got := jsontree.Count(nil); got != 0 {
		t.Errorf("Count(nil) = %d", got)
	}
	siblings := &jsontree.Node{Next: &jsontree.Node{}}
	if got := jsontree.Count(siblings); got != 1 {
		t.Errorf("Count counts siblings: %d", got)
	}
}

func TestKindString(t *testing.T) {
	for kind, want := range map[jsontree.Kind]string{
		jsontree.Null: "null", jsontree.False: "false", jsontree.True: "true", jsontree.Number: "number", jsontree.String: "string",
		jsontree.Array: "array", jsontree.Object: "object", jsontree.Stream: "stream", jsontree.Stream + 1: "invalid", 255: "invalid",
	} {
		if got := kind.String(); got != want {
			t.Errorf("Kind(%d).String() = %q, want %q", kind, got, want)
		}
	}
}

// TestTreeKeepsOrder looks at what encoding/json's view cannot show: the order
// of keys, duplicates, and where each value was.
func TestTreeKeepsOrder(t *testing.T) {
	const in = `{"z":1, "a":[2], "z":{"b":3}}`
	n, err := jsontree.Parse(jsontree.Heap{}, []byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(jsontree.AppendJSON([]byte("x"), n)), `x{"z":1,"a":[2],"z":{"b":3}}`; got != want {
		t.Errorf("rendered %s, want %s", got, want)
	}
	var offsets []int
	for c := n.Child; c != nil; c = c.Next {
		offsets = append(offsets, c.Offset)
	}
	if want := []int{5, 12, 21}; !reflect.DeepEqual(offsets, want) {
		t.Errorf("offsets %v, want %v", offsets, want)
	}
}

// TestStringsAreRenderedAsEncodingJSONDoes compares the bytes, not the view.
// Go versions differ in one: for what is no UTF-8 older ones write the escape
// \ufffd, newer ones the character, as AppendJSON does.
func TestStringsAreRenderedAsEncodingJSONDoes(t *testing.T) {
	check := func(s string) {
		t.Helper()
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(map[string]string{s: s}); err != nil {
			t.Fatal(err)
		}
		n := &jsontree.Node{Kind: jsontree.Object, Child: &jsontree.Node{Kind: jsontree.String, Key: s, Text: s}}
		wanted := want.String()
		if !utf8.ValidString(s) {
			wanted = strings.ReplaceAll(wanted, `\ufffd`, "\ufffd")
		}
		if got := string(jsontree.AppendJSON(nil, n)) + "\n"; got != wanted {
			t.Errorf("%q is rendered %q, want %q", s, got, wanted)
		}
	}
	for b := range 256 {
		check(string([]byte{byte(b)}))
		check("a" + string([]byte{byte(b)}) + "z")
		check(string(rune(b)) + string(rune(b)))
	}
	for _, s := range []string{"", "\u2027\u2028\u2029\u202a", "a\u2028", "\u2029b", "😀é€", "é\xffé", "\xe2\x82", "\xed\xa0\x80", "<&>", "\U0010ffff\ufffd\uffff"} {
		check(s)
	}
}

// TestHandMadeTrees renders trees that no parse returns.
func TestHandMadeTrees(t *testing.T) {
	for _, c := range []struct {
		n    *jsontree.Node
		json string
		view any
	}{
		{nil, `null`, nil},
		{&jsontree.Node{}, `null`, nil},
		{&jsontree.Node{Kind: jsontree.Number}, `0`, json.Number("")},
		{&jsontree.Node{Kind: jsontree.Kind(99)}, `null`, nil},
		{&jsontree.Node{Kind: jsontree.Stream}, ``, []any{}},
		{&jsontree.Node{Kind: jsontree.True, Key: "k", Next: &jsontree.Node{}}, `true`, true},
	} {
		if got := string(jsontree.AppendJSON(nil, c.n)); got != c.json {
			t.Errorf("AppendJSON of %+v = %q, want %q", c.n, got, c.json)
		}
		if got := c.n.Interface(); !reflect.DeepEqual(got, c.view) {
			t.Errorf("view of %+v is %#v, want %#v", c.n, got, c.view)
		}
	}
}

var errFull = errors.New("full")

// limited is an Allocator that panics after so many nodes, like an arena with
// a limit.
type limited struct {
	jsontree.Heap
	left int
}

func (l *limited) NewNode() *jsontree.Node {
	if l.left--; l.left < 0 {
		panic(errFull)
	}
	return new(jsontree.Node)
}

func TestAllocatorPanicPassesThrough(t *testing.T) {
	func() {
		defer func() {
			if r := recover(); r != errFull {
				t.Errorf("recovered %v", r)
			}
		}()
		jsontree.Parse(&limited{left: 2}, []byte(`["\n",1,2]`))
		t.Error("no panic")
	}()
	agree(t, []byte(`["\n",1,2]`))
}

// yielding lets other goroutines run while the parser's buffer is lent out.
type yielding struct{ jsontree.Heap }

func (yielding) String(b []byte) string {
	runtime.Gosched()
	return string(b)
}

// TestParallel parses in many goroutines at once, which share nothing but the
// pooled buffers: a buffer used twice would mix their strings up.
func TestParallel(t *testing.T) {
	var group sync.WaitGroup
	for g := range 8 {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := range 200 {
				s := strings.Repeat(fmt.Sprintf("%d.%d\t\"é", g, i), 1+i%50)
				in, err := json.Marshal([]string{s, s})
				if err != nil {
					t.Error(err)
					return
				}
				n, err := jsontree.Parse(yielding{}, in)
				if err != nil || n.Child.Text != s || n.Child.Next.Text != s {
					t.Errorf("Parse(%s) lost a string: %v", in, err)
					return
				}
			}
		}()
	}
	group.Wait()
}

// free is an Allocator that takes no memory; its trees are of no use.
type free struct{ node *jsontree.Node }

func (f free) NewNode() *jsontree.Node {
	*f.node = jsontree.Node{}
	return f.node
}

func (free) String([]byte) string { return "" }

// TestNoOtherAllocations parses strings with escapes, each too long for a new
// buffer: only the first may make the buffer grow.
func TestNoOtherAllocations(t *testing.T) {
	long := `"` + strings.Repeat(`\n\u00e9 and more `, 500) + `"`
	data := []byte(strings.Repeat(long+" 1 true ", 100))
	a := free{new(jsontree.Node)}
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := jsontree.ParseStream(a, data); err != nil {
			t.Fatal(err)
		}
	})
	// None at all with a warm buffer; the pool may lose it to a collection,
	// and does so at random under the race detector.
	if allocs > 20 {
		t.Errorf("%v allocations for 100 long strings, want next to none", allocs)
	}
}
