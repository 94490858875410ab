package jsontree_test

import "testing"

// FuzzParse compares the parser with encoding/json on any input. The corpus in
// testdata/fuzz is run by plain `go test` as well.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte("{\"Dir\": \"/usr\", \"Deps\": [\"a\", \"b\"]}\n{\"Dir\": \"\"}\n"))
	f.Add([]byte(`[1,-0.5e+7,"\ud83d\ude00\u0000",{"a":{"a":null}},[],{}]`))
	f.Fuzz(func(t *testing.T, data []byte) { agree(t, data) })
}
