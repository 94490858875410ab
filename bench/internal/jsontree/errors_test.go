package jsontree_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

func TestSyntaxErrorText(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\n\t\"a\": 1,\n\t\"b\": \"c\",}", `line 3, column 11: unexpected '}' after ',' (want a string key)`},
		{``, `line 1, column 1: unexpected end of input at the start of a document (want a JSON value)`},
		{"\n\n", `line 3, column 1: unexpected end of input at the start of a document (want a JSON value)`},
		{"\ufeff{}", `line 1, column 1: unexpected '\ufeff' at the start of a document (want a JSON value)`},
		{`x`, `line 1, column 1: unexpected 'x' at the start of a document (want a JSON value)`},
		{"\xff", `line 1, column 1: unexpected byte 0xff at the start of a document (want a JSON value)`},
		{`1 2`, `line 1, column 3: unexpected '2' after the document (want the end)`},
		{"{\r\n}\r\né", `line 3, column 1: unexpected 'é' after the document (want the end)`},
		{`[`, `line 1, column 2: unexpected end of input after '[' (want a value or ']')`},
		{`[,`, `line 1, column 2: unexpected ',' after '[' (want a value or ']')`},
		{"[1,\n]", `line 2, column 1: unexpected ']' after ',' (want a value)`},
		{`["é" 1`, `line 1, column 7: unexpected '1' after an array element (want ',' or ']')`},
		{`[[1]}`, `line 1, column 5: unexpected '}' after an array element (want ',' or ']')`},
		{`{`, `line 1, column 2: unexpected end of input after '{' (want a string key or '}')`},
		{`{1`, `line 1, column 2: unexpected '1' after '{' (want a string key or '}')`},
		{`{"a"}`, `line 1, column 5: unexpected '}' after the key (want ':')`},
		{`{"a" : }`, `line 1, column 8: unexpected '}' after ':' (want a value)`},
		{`{"a":1 "b"`, `line 1, column 8: unexpected '"' after an object's value (want ',' or '}')`},
		{`{"a":[]]`, `line 1, column 8: unexpected ']' after an object's value (want ',' or '}')`},
		{`{"a":1`, `line 1, column 7: unexpected end of input after an object's value (want ',' or '}')`},
		{`-x`, `line 1, column 2: unexpected 'x' in a number (want a digit)`},
		{`1.`, `line 1, column 3: unexpected end of input in a number (want a digit)`},
		{`[1e+]`, `line 1, column 5: unexpected ']' in a number (want a digit)`},
		{`tru`, `line 1, column 4: unexpected end of input after 'tru' (want the literal true)`},
		{`[nil]`, `line 1, column 3: unexpected 'i' after 'n' (want the literal null)`},
		{`falsy`, `line 1, column 5: unexpected 'y' after 'fals' (want the literal false)`},
		{`"abc`, `line 1, column 5: unexpected end of input in a string (want a closing quote)`},
		{`"\`, `line 1, column 3: unexpected end of input in a string (want a closing quote)`},
		{`"\u00`, `line 1, column 6: unexpected end of input in a string (want a closing quote)`},
		{"\"a\nb\"", `line 1, column 3: unexpected '\n' in a string (want control characters escaped)`},
		{`"\q"`, `line 1, column 3: unexpected 'q' after '\' (want one of "\/bfnrtu)`},
		{`"\u00g0"`, `line 1, column 6: unexpected 'g' after '\u' (want four hexadecimal digits)`},
		{strings.Repeat("[", 10001), `line 1, column 10001: unexpected '[' inside 10000 open arrays and objects (want no deeper nesting)`},
	} {
		_, err := jsontree.Parse(jsontree.Heap{}, []byte(c.in))
		if err == nil || err.Error() != c.want {
			t.Errorf("Parse(%.40q):\n got %v\nwant %s", c.in, err, c.want)
		}
	}
}

func TestSyntaxErrorFields(t *testing.T) {
	_, err := jsontree.ParseStream(jsontree.Heap{}, []byte("{}\n[1,\n  2,}\n"))
	var syntax *jsontree.SyntaxError
	if !errors.As(err, &syntax) {
		t.Fatalf("error %v of type %T", err, err)
	}
	want := jsontree.SyntaxError{Offset: 11, Line: 3, Column: 5, Got: "'}'", Where: "after ','", Want: "a value"}
	if *syntax != want {
		t.Errorf("got %+v, want %+v", *syntax, want)
	}
}
