package jsontree_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

// accepted and rejected state the verdict themselves, so that a change of
// encoding/json shows here and not as a change of the parser.
var accepted = []string{
	// Literals and white space.
	`null`, `true`, `false`, ` null`, "\t\r\n null \t\r\n", "[ true , false\n,\tnull\r]",
	// Numbers.
	`0`, `-0`, `1`, `-1`, `10`, `9007199254740993`, `0.0`, `-0.0`, `0.5`, `1.25`, `100.001`,
	`1e1`, `1E1`, `1e+1`, `1e-1`, `1E+01`, `0e0`, `0E-0`, `1.5e10`, `-1.5E-10`, `1e400`, `-1e400`, `1e-400`,
	`123456789012345678901234567890`, `0.000000000000000000000000000001`, `[0,1,-1]`, `[0]`, `{"":0}`,
	`0.1234567`, `12345678`, `123456789`, "1 ", "1\n", ` 1`,
	// Strings without escapes, of lengths around the eight bytes of a word.
	`""`, `"a"`, `"ab"`, `"abcdef"`, `"abcdefg"`, `"abcdefgh"`, `"abcdefghi"`, `"abcdefghijklmno"`, `"abcdefghijklmnop"`,
	`"'"`, `"/"`, `" "`, `"#!$%&()*+,-.:;<=>?@[]^_{|}~"`, "\"\x7f\"", `"null"`, `"<script>&amp;</script>"`,
	// Escapes.
	`"\""`, `"\\"`, `"\/"`, `"\b\f\n\r\t"`, `"\u0000"`, `"\u001f"`, `"\u0041"`, `"\u00e9"`, `"\u00E9"`, `"\uabcd"`, `"\uABCD"`, `"\uaBcD"`,
	`"abcdefg\n"`, `"abcdefgh\n"`, `"\nabcdefgh"`, `"\\\\\\\\"`, `"\\\""`, `"a\\"`, `"\u0022\u005c"`, `"\u2028\u2029"`, `"\u007f\u0080"`,
	`{"\u006b\n":"\t"}`, `{"\"":"\""}`, `["\\","\""]`, `"\\u0041"`, `"\ufeff"`, `"\uffff\ufffe\ufffd"`,
	// Surrogates: pairs, alone, in the wrong order, cut off.
	`"\ud83d\ude00"`, `"\uD83D\uDE00"`, `"\ud800\udc00"`, `"\udbff\udfff"`, `"x\ud83d\ude00y"`,
	`"\ud800"`, `"\udc00"`, `"\udfff"`, `"\udbff"`, `"\ud83dx"`, `"\ud83d\n"`, `"\ud83d\\ude00"`, `"\ud83d\u0041"`, `"\ud83d\ud83d\ude00"`,
	`"\ude00\ud83d"`, `"\ude00\ud83d\ude00"`, `"\ud83d\ud83d"`, `"\ud83d\ud83d\ud83d"`, `"\ud83d\ufffd"`, `{"\ud800":"\udc00"}`,
	// UTF-8: one to four bytes, the last code point, the signature inside a string.
	`"é"`, `"€"`, `"😀"`, "\"\U0010ffff\"", "\"\ufeff\"", "\"\u2028\u2029\"", "\"\ufffd\"", `"日本語日本語"`, `"abcdefgé"`, `"éabcdefgh"`, `{"ключ":"значение"}`, `"é\n"`, `"\né"`,
	// Not UTF-8: each wrong byte is replaced.
	"\"\x80\"", "\"\xbf\"", "\"\xff\"", "\"\xfe\"", "\"\xc0\x80\"", "\"\xc1\xbf\"", "\"\xc3\"", "\"\xc3x\"", "\"\xe2\x82\"", "\"\xe2\x82x\"", "\"\xe2\"",
	"\"\xf0\x9f\x98\"", "\"\xf0\x9f\x98x\"", "\"\xf0\x9f\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xed\xa0\x80\"", "\"\xed\xbf\xbf\"", "\"\xed\xa0\xbd\xed\xb8\x80\"",
	"\"\xe0\x80\x80\"", "\"\xf0\x80\x80\x80\"", "\"\x80\\n\x80\"", "\"\\ud83d\x80\"", "{\"\xff\":1,\"\xfe\":2}", "\"abcdefg\xff\"", "\"abcdefgh\xff\"", "\"\xffabcdefghijklmnop\"",
	// Containers.
	`[]`, `{}`, `[ ]`, `{ }`, "[\n]", "{\r\n}", `[[]]`, `[{}]`, `{"":{}}`, `{"":[]}`, `[[],[]]`, `[{},{}]`, `[[],{},1,"",null]`,
	`[1]`, `[1,2]`, `[ 1 , 2 ]`, `{"a":1}`, `{ "a" : 1 }`, "{\n\"a\"\n:\n1\n,\n\"b\"\n:\n2\n}", `{"a":1,"b":2}`, `{"":""}`,
	`[[[[[[[[1]]]]]]],2]`, `{"a":{"b":{"c":{"d":[]}}},"e":1}`, `[[1,[2,[3,[4]]]],5]`, `[{"a":[{"b":[]}]}]`,
	// Duplicate keys.
	`{"a":1,"a":2}`, `{"a":1,"a":null}`, `{"a":{"b":1},"a":{"c":2}}`, `{"a":[1,2,3],"a":[4]}`, `{"a":1,"b":2,"a":{},"b":[]}`, `{"":1,"":2,"":3}`, `{"a":"x","\u0061":"y"}`, `{"a":{"b":1},"a":2,"a":{"c":3}}`,
}

var rejected = []string{
	// Nothing, or nothing but white space, or what is not JSON's white space.
	``, ` `, "\n\t\r ", "\v", "\f", "\u00a0", "\u2028", "\ufeff", "\ufeff1", "\x00", "1\x00", "1\v", "\f1", "\u00a01", "[\v]", "[1\u00a0]", "{\f}",
	// Literals.
	`n`, `nu`, `nul`, `nulL`, `Null`, `NULL`, `nulll`, `nullx`, `null1`, `nul l`, `t`, `tr`, `tru`, `True`, `truex`, `trueX`, `true1`, `TRUE`,
	`f`, `fa`, `fal`, `fals`, `False`, `falsey`, `fal,e`, `[nul]`, `[tru]`, `[fals]`, `[truefalse]`, `nan`, `NaN`, `Infinity`, `-Infinity`, `inf`, `undefined`, `None`, `a`, `'a'`, `*`, `$`, `\`, `\n`, `/`, `//`, "// x\n1", `/**/1`, `1//`, `#1`, "`a`",
	// Numbers.
	`-`, `+`, `+1`, `--1`, `-+1`, `- 1`, `.`, `.5`, `-.5`, `5.`, `-5.`, `0.`, `1.e1`, `1.E1`, `.e1`, `e1`, `E1`, `1e`, `1E`, `1e+`, `1e-`, `1E+`, `1.5e`, `1.5e+`, `1e1.5`, `1e+-1`, `1e 1`, `1ee1`, `1e1e1`, `1.2.3`, `1..2`,
	`01`, `00`, `-01`, `-00`, `-00.5`, `000`, `01.5`, `0x10`, `0x`, `0b1`, `0o7`, `1_000`, `1,000`, `1a`, `1f`, `0a`, `-a`, `-x1`, `1 2`, `1-2`, `1-`, `1+`, `12e`, `[1.]`, `[.1]`, `[-]`, `[+1]`, `[01]`, `[1e]`, `{"":-}`, `{"":01}`, "１", `1٠`, "-\u0660", "1.\u0661", `½`, "−1",
	// Strings.
	`"`, `"a`, `"abcdefg`, `"abcdefgh`, `"\`, `"\"`, `"\\\"`, `"a\`, `a"`, `"a""`, `"a"b"`, `""""`, `"a" "b"`, `'`, `''`, `'"'`, `"'`, `["a]`, `["a`, `["a",`, `{"a`, `{"a\`,
	"\"\x00\"", "\"\x01\"", "\"\x1f\"", "\"\n\"", "\"\r\"", "\"\t\"", "\"a\nb\"", "\"abcdefg\n\"", "\"abcdefgh\n\"", "\"\b\"", "\"\x1b\"", "\"\\\n\"", "\"\\\x00\"", "{\"a\nb\":1}", "\"\xff\n\"", "\"\\n\n\"", "\"é\n\"",
	`"\a"`, `"\v"`, `"\0"`, `"\1"`, `"\x41"`, `"\'"`, `"\ "`, `"\e"`, `"\N"`, `"\B"`, `"\U0041"`, `"\é"`, "\"\\\xff\"", `"\u"`, `"\u1"`, `"\u12"`, `"\u123"`, `"\u123"4`, `"\u123g"`, `"\ug123"`, `"\u 123"`, `"\u+123"`, `"\u-123"`, `"\u0x41"`, `"\u{41}"`, `"\u00`, `"\u0041`, `"\uu0041"`, "\"\\u\xff\xff\xff\xff\"",
	`"\ud83d\"`, `"\ud83d\u"`, `"\ud83d\ude"`, `"\ud83d\ude0"`, `"\ud83d\udeg0"`, `"\ud83d\u`, `"\ud83d\ude00`, `"\ud83d\x"`, `"\ud83d`, `"\ud83`, `{"\u":1}`, `{"\q":1}`,
	"\"\xff", "\"\xe2\x82", "\"é", "\xff", "\x80", "[\xff]", "é", "[é]", "{é:1}", "1é", "\"a\"\xff",
	// Arrays.
	`[`, `]`, `[[`, `]]`, `[]]`, `[[]`, `[[]]]`, `[,]`, `[,1]`, `[1,]`, `[1,,2]`, `[,,]`, `[1 2]`, `["a" "b"]`, `[1`, `[1,`, `[1, `, `[1}`, `[}`, `[1,}`, `[{]`, `[{]}`, `[[}]`, `[:]`, `[1:2]`, `["a":1]`, `[=]`, `[1;2]`, `[1 true]`, `[nullnull]`, `[]1`, `1[]`, `[]{}`, `[] []`, `[1]x`, `[1],`, `,[1]`, `(1)`, `[[]{}]`, `[""1]`,
	// Objects.
	`{`, `}`, `{{`, `{}}`, `}{`, `{{}}`, `{[]}`, `{,}`, `{:}`, `{"a"}`, `{"a":}`, `{"a",}`, `{"a" 1}`, `{"a"=1}`, `{"a":1,}`, `{,"a":1}`, `{"a":1,,"b":2}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`, `{"a"::1}`, `{"a":1:2}`, `{"a":,}`, `{:1}`, `{1:1}`, `{1}`, `{a:1}`, `{'a':1}`, `{null:1}`, `{true:1}`, `{[]:1}`, `{{}:1}`, `{"a":1`, `{"a":1,`, `{"a":`, `{"a"`, `{"a":1]`, `{]`, `{"a":[}`, `{"a":[1}`, `{"a":{]`, `{"a" "b"}`, `{"a","b"}`, `{"a":1}}`, `{"a":1}x`, `{"a":1},`, `{"":`, `{"a":"b"c}`, `{"a":1,"b"}`, `{"a":1,"b":}`, `{"a":1,b:2}`, `{"a":1,2}`, `{} {}`, `{}[]`, `{}1`, `{"a":1}{"b":2}`,
	// Documents one after another.
	`1 1`, `null null`, "{}\n{}", `"a""b"`, `truefalse`, `[] null`, "1\n2\n", `1,2`, `1:2`, `"a":1`,
}

func TestAccepted(t *testing.T) {
	for _, s := range accepted {
		if _, err := jsontree.Parse(jsontree.Heap{}, []byte(s)); err != nil {
			t.Errorf("Parse(%q): %v", s, err)
			continue
		}
		agree(t, []byte(s))
		agree(t, []byte(" "+s+"\n"))
		agree(t, []byte("["+s+","+s+"]"))
		agree(t, []byte(`{"k" : `+s+`, "k" :`+s+`}`))
	}
}

func TestRejected(t *testing.T) {
	for _, s := range rejected {
		if _, err := jsontree.Parse(jsontree.Heap{}, []byte(s)); err == nil {
			t.Errorf("Parse(%q) accepted it", s)
			continue
		}
		agree(t, []byte(s))
		agree(t, []byte("["+s+"]"))
		agree(t, []byte(`{"k":`+s+`}`))
		agree(t, []byte(`null `+s))
	}
}

// sample has a bit of everything, so that cutting and changing it anywhere
// reaches every place in the parser.
const sample = `{"name": "Åsa \"the\" \u00e9\ud83d\ude00\ud800", "n": [0, -1.5e+10, 2E3, 0.25],
	"t":true,"f":false,"z":null, "": {}, "e":[ ], "deep":[[{"a":[1,{"b":[]}]}]],` + "\t\"x\xff\":\"y\xe2\x82\" }\n"

func TestTruncatedAnywhere(t *testing.T) {
	for end := range len(sample) + 1 {
		agree(t, []byte(sample[:end]))
		agree(t, []byte(sample[end:]))
	}
}

func TestChangedAnywhere(t *testing.T) {
	const bytes = "\x00\n \"\\/u,:[]{}-+.0e1tx\x7f\x80\xc3\xff"
	for i := range len(sample) {
		agree(t, []byte(sample[:i]+sample[i+1:]))
		for j := range len(bytes) {
			agree(t, []byte(sample[:i]+bytes[j:j+1]+sample[i:]))
			agree(t, []byte(sample[:i]+bytes[j:j+1]+sample[i+1:]))
		}
	}
}

// TestEveryByteInAString puts every byte and every escape at every position
// around the eight bytes that scanString reads at once.
func TestEveryByteInAString(t *testing.T) {
	for b := range 256 {
		for before := range 10 {
			plain := strings.Repeat("p", before)
			for _, after := range []string{"", "q", "qqqqqqqqq"} {
				agree(t, []byte(`"`+plain+string([]byte{byte(b)})+after+`"`))
			}
		}
		agree(t, []byte{'"', '\\', byte(b), '"'})
		agree(t, []byte{byte(b)})
		agree(t, []byte{'[', byte(b), ']'})
		agree(t, []byte{'1', byte(b), '1'})
	}
	for b := range 256 {
		agree(t, fmt.Appendf(nil, `"\u00%02x\u%02x00"`, b, b))
	}
}

func TestDepth(t *testing.T) {
	const limit = 10000
	nest := func(open, inner, end string, n int) []byte {
		return []byte(strings.Repeat(open, n) + inner + strings.Repeat(end, n))
	}
	for _, c := range []struct{ open, inner, end string }{
		{`[`, ``, `]`}, {`[`, `1`, `]`}, {`{"a":`, `1`, `}`}, {`{"a":`, `null`, `}`}, {"[\n", "\n", "\n]"},
		{`[1,`, `2`, `,3]`}, {`{"a":1,"b":`, `2`, `,"c":3}`},
	} {
		data := nest(c.open, c.inner, c.end, limit)
		if _, err := jsontree.Parse(jsontree.Heap{}, data); err != nil {
			t.Errorf("%d times %s: %v", limit, c.open, err)
		}
		agree(t, data)
		data = nest(c.open, c.inner, c.end, limit+1)
		if _, err := jsontree.Parse(jsontree.Heap{}, data); err == nil {
			t.Errorf("%d times %s: accepted", limit+1, c.open)
		}
		agree(t, data)
		agree(t, data[:len(c.open)*limit])
		agree(t, data[:len(c.open)*(limit+1)])
	}
	// Alternating, the deepest container empty, and depth that was left again.
	agree(t, nest(`[{"a":`, `1`, `}]`, limit/2))
	agree(t, nest(`[{"a":`, `[]`, `}]`, limit/2))
	agree(t, nest(`[`, `{}`, `]`, limit-1))
	agree(t, nest(`[`, `{}`, `]`, limit))
	agree(t, nest(`[`, `[],[],{},{}`, `]`, limit-1))
	agree(t, []byte(strings.Repeat(`[[]],`, limit)+`1`))
	agree(t, []byte(`[`+strings.Repeat(`[[]],`, limit)+`1]`))
	agree(t, []byte(strings.Repeat(`[[]]`, limit)))
}
