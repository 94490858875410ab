package jsontree_test

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/haven-mem/haven/bench/internal/jsontree"
)

// reuse is an Allocator that costs next to nothing: it hands the same nodes
// and bytes out again after rewind. What a parse with it takes is the parser's
// own share.
type reuse struct {
	nodes []jsontree.Node
	used  int
}

func (r *reuse) rewind() { r.used = 0 }

func (r *reuse) NewNode() *jsontree.Node {
	if r.used == len(r.nodes) {
		r.nodes = make([]jsontree.Node, 2*len(r.nodes)+1024)
		r.used = 0
	}
	n := &r.nodes[r.used]
	r.used++
	*n = jsontree.Node{}
	return n
}

func (*reuse) String(b []byte) string { return "" }

// BenchmarkParse compares the parser with encoding/json on the default input.
// impl=free is the parser without the cost of memory.
func BenchmarkParse(b *testing.B) {
	data := standardInput(b)
	run := func(name string, parse func() error) {
		b.Run("impl="+name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if err := parse(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("heap", func() error {
		_, err := jsontree.ParseStream(jsontree.Heap{}, data)
		return err
	})
	var free reuse
	run("free", func() error {
		free.rewind()
		_, err := jsontree.ParseStream(&free, data)
		return err
	})
	run("encoding_json_any", func() error {
		decoder := json.NewDecoder(bytes.NewReader(data))
		for {
			var v any
			if err := decoder.Decode(&v); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
	})
	one := append(bytes.ReplaceAll(append([]byte("["), bytes.TrimSpace(data)...), []byte("\n}\n{"), []byte("\n},\n{")), ']')
	run("encoding_json_unmarshal", func() error {
		var v any
		return json.Unmarshal(one, &v)
	})
}
