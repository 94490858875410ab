package jsontree_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

// counting is an Allocator on the heap that counts what is taken from it.
type counting struct {
	nodes, strings, bytes int
}

func (c *counting) NewNode() *jsontree.Node {
	c.nodes++
	return new(jsontree.Node)
}

func (c *counting) String(b []byte) string {
	c.strings++
	c.bytes += len(b)
	return string(b)
}

// agree checks that Parse and ParseStream treat data as encoding/json does: the
// same verdict, the same view, the same view again after a round trip, and for
// what is rejected an error whose position is right.
func agree(t testing.TB, data []byte) {
	t.Helper()
	kept := bytes.Clone(data)

	var a counting
	n, err := jsontree.Parse(&a, data)
	if valid := json.Valid(data); valid != (err == nil) {
		t.Fatalf("Parse(%.200q): %v, but json.Valid says %v", data, err, valid)
	}
	if err != nil {
		if n != nil {
			t.Errorf("Parse(%.200q) returned a tree with the error %v", data, err)
		}
		checkPosition(t, data, err, func(prefix []byte) error {
			_, err := jsontree.Parse(jsontree.Heap{}, prefix)
			return err
		})
	} else {
		views := decodeAll(t, data)
		if len(views) != 1 {
			t.Fatalf("encoding/json reads %d documents from valid %.200q", len(views), data)
		}
		checkTree(t, data, n, &a, views[0])
		back := jsontree.AppendJSON(nil, n)
		if views := decodeAll(t, back); len(views) != 1 || !reflect.DeepEqual(views[0], n.Interface()) {
			t.Errorf("%.200q, written as %.200q, reads as %.200v, want %.200v", data, back, views, n.Interface())
		}
	}

	a = counting{}
	n, err = jsontree.ParseStream(&a, data)
	views, wantErr := decodeStream(data)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("ParseStream(%.200q): %v, but json.Decoder: %v", data, err, wantErr)
	}
	if err != nil {
		checkPosition(t, data, err, func(prefix []byte) error {
			_, err := jsontree.ParseStream(jsontree.Heap{}, prefix)
			return err
		})
	} else {
		if n.Kind != jsontree.Stream {
			t.Errorf("ParseStream(%.200q): root of kind %v", data, n.Kind)
		}
		checkTree(t, data, n, &a, views)
		back := jsontree.AppendJSON(nil, n)
		if again, err := decodeStream(back); err != nil || !reflect.DeepEqual(again, views) {
			t.Errorf("stream %.200q, written as %.200q, reads as %.200v, %v", data, back, again, err)
		}
	}

	if !bytes.Equal(data, kept) {
		t.Errorf("the input %.200q was changed to %.200q", kept, data)
	}
}

// checkTree compares the view of n with want and checks the tree's own rules.
func checkTree(t testing.TB, data []byte, n *jsontree.Node, a *counting, want any) {
	t.Helper()
	if got := n.Interface(); !reflect.DeepEqual(got, want) {
		t.Errorf("view of %.200q: %.200v, want %.200v", data, got, want)
	}
	if n.Next != nil || n.Key != "" {
		t.Errorf("the root of %.200q has a sibling or a key", data)
	}
	if got := jsontree.Count(n); got != a.nodes {
		t.Errorf("Count of %.200q is %d, but %d nodes were allocated", data, got, a.nodes)
	}
	strings, bytes := checkNode(t, data, n)
	if strings != a.strings || bytes != a.bytes {
		t.Errorf("%.200q has %d strings of %d bytes, but %d of %d were allocated", data, strings, bytes, a.strings, a.bytes)
	}
}

// checkNode checks the fields of the nodes at n against their kinds and the
// input, and returns the number and the bytes of the strings.
func checkNode(t testing.TB, data []byte, n *jsontree.Node) (strings, bytes int) {
	t.Helper()
	first := byte(0)
	if n.Kind != jsontree.Stream {
		first = data[n.Offset]
	}
	ok := true
	switch n.Kind {
	case jsontree.Null:
		ok = first == 'n'
	case jsontree.False:
		ok = first == 'f'
	case jsontree.True:
		ok = first == 't'
	case jsontree.Number:
		ok = first == '-' || '0' <= first && first <= '9'
		strings, bytes = 1, len(n.Text)
	case jsontree.String:
		ok = first == '"'
		strings, bytes = 1, len(n.Text)
	case jsontree.Array:
		ok = first == '['
	case jsontree.Object:
		ok = first == '{'
	case jsontree.Stream:
		ok = n.Offset == 0
	default:
		ok = false
	}
	container := n.Kind == jsontree.Array || n.Kind == jsontree.Object || n.Kind == jsontree.Stream
	if !ok || n.Child != nil && !container || n.Text != "" && strings == 0 {
		t.Errorf("node %+v of %.200q does not fit its kind %v", n, data, n.Kind)
	}
	last := -1
	for c := n.Child; c != nil; c = c.Next {
		if c.Offset <= last {
			t.Errorf("node %+v of %.200q is not after its sibling", c, data)
		}
		last = c.Offset
		if n.Kind == jsontree.Object {
			strings++
			bytes += len(c.Key)
		} else if c.Key != "" {
			t.Errorf("node %+v of %.200q has a key in a parent of kind %v", c, data, n.Kind)
		}
		s, b := checkNode(t, data, c)
		strings += s
		bytes += b
	}
	return strings, bytes
}

// checkPosition checks that err is a *SyntaxError and that its offset is the
// first byte that is wrong: what stands before it is a document, or a document
// that only ends too early.
func checkPosition(t testing.TB, data []byte, err error, parse func([]byte) error) {
	t.Helper()
	var syntax *jsontree.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("the error for %.200q is a %T, want a *SyntaxError", data, err)
	}
	if syntax.Offset < 0 || syntax.Offset > len(data) {
		t.Fatalf("offset %d in an input of %d bytes: %v", syntax.Offset, len(data), err)
	}
	prefix := data[:syntax.Offset]
	var early *jsontree.SyntaxError
	if errors.As(parse(prefix), &early) && early.Offset != len(prefix) {
		t.Errorf("%.200q: error at offset %d, but what is before it fails at %d: %v", data, syntax.Offset, early.Offset, early)
	}
	lines := bytes.Split(prefix, []byte{'\n'})
	if syntax.Line != len(lines) || syntax.Column != 1+len(lines[len(lines)-1]) {
		t.Errorf("%.200q: offset %d is reported as line %d, column %d", data, syntax.Offset, syntax.Line, syntax.Column)
	}
}

// decodeStream is encoding/json's view of a sequence of documents.
func decodeStream(data []byte) ([]any, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	views := []any{}
	for {
		var v any
		if err := decoder.Decode(&v); err == io.EOF {
			return views, nil
		} else if err != nil {
			return nil, err
		}
		views = append(views, v)
	}
}

func decodeAll(t testing.TB, data []byte) []any {
	t.Helper()
	views, err := decodeStream(data)
	if err != nil {
		t.Fatalf("encoding/json does not read %.200q: %v", data, err)
	}
	return views
}
