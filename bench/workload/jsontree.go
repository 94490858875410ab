package workload

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bench/internal/jsontree"
	"github.com/haven-mem/haven/bump"
)

// Workload jsontree parses real JSON into a tree of nodes with strings, by
// package jsontree, which is generic over the allocator. A round parses the
// input several times if it is short, each time into a tree of its own; all
// trees stay alive until the round ends, as the documents of a batch do.

func init() {
	Register(Workload{
		Name:    "jsontree",
		Doc:     "a JSON document parsed into a tree",
		Unit:    "byte",
		Prepare: jsonPrepare,
		Check:   jsonCheck,
		Cases:   jsonCases,
	})
}

const (
	jsonRoundBytes  = 4 << 20 // a round parses about as much
	jsonMaxTrees    = 64      // and at most as many trees
	jsonInputFile   = "input.json"
	jsonQuickFactor = 2
)

// jsonPrepare makes the default input, so that the children do not have to.
func jsonPrepare(cfg *Config, dir string) error {
	if cfg.In != "" {
		return nil
	}
	data, name, err := jsontree.Input("")
	if err != nil {
		return err
	}
	cfg.In = filepath.Join(dir, jsonInputFile)
	cfg.InName = name
	return os.WriteFile(cfg.In, data, 0o666)
}

// jsonCheck reports an input that is not JSON, with line and column.
func jsonCheck(cfg Config) error {
	data, err := jsonRead(cfg)
	if err != nil {
		return err
	}
	if _, err := jsontree.ParseStream(jsontree.Heap{}, data); err != nil {
		return fmt.Errorf("%s: %w", cfg.InName, err)
	}
	return nil
}

// jsonRead reads the input. Its errors call it by the name that the user gave
// it.
func jsonRead(cfg Config) ([]byte, error) {
	data, _, err := jsontree.Input(cfg.In)
	var pathErr *os.PathError
	switch {
	case errors.As(err, &pathErr):
		return nil, fmt.Errorf("%s: %w", cfg.InName, pathErr.Err)
	case err != nil:
		// An input with nothing in it.
		return nil, fmt.Errorf("%s: no JSON document in it", cfg.InName)
	}
	return data, nil
}

func jsonCases(cfg Config) []Case {
	return []Case{{
		Doc: "input: " + cmp.Or(cfg.InName, "go list -json -deps std"),
		Variants: variants(func() (*program[*jsontree.Node, jsonLanes], error) {
			data, err := jsonRead(cfg)
			if err != nil {
				return nil, err
			}
			bytes := jsonRoundBytes
			if cfg.Quick {
				bytes /= jsonQuickFactor
			}
			return jsonProgram(data, bytes)
		}, map[string][]Target{
			arenaPool: {faster(2), less(MetricGCCPU, 3), notAbove(MetricRSS)},
		}, allVariants...),
	}}
}

// jsonProgram parses data as often as it takes to have bytes in a round.
func jsonProgram(data []byte, bytes int) (*program[*jsontree.Node, jsonLanes], error) {
	trees := min(max((bytes+len(data)-1)/len(data), 1), jsonMaxTrees)
	must := func(n *jsontree.Node, err error) *jsontree.Node {
		if err != nil {
			panic(err) // the input was checked
		}
		return n
	}
	return &program[*jsontree.Node, jsonLanes]{
		units: trees,
		ops:   int64(trees) * int64(len(data)),
		whole: true,
		heap: func(int) *jsontree.Node {
			return must(jsontree.ParseStream(jsontree.Heap{}, data))
		},
		arena: func(mem *arena.Arena, _ int) *jsontree.Node {
			return must(jsontree.ParseStream(jsonArena{mem}, data))
		},
		lanes: func(mem *arena.Arena) jsonLanes {
			return jsonLanes{mem, arena.LaneOf[jsontree.Node](mem)}
		},
		lane: func(lanes jsonLanes, _ int) *jsontree.Node {
			return must(jsontree.ParseStream(lanes, data))
		},
		bump: func(mem *bump.Arena, _ int) *jsontree.Node {
			return must(jsontree.ParseStream(jsonBump{mem}, data))
		},
		check: jsonSum,
	}, nil
}

// jsonSum returns a checksum of the text of a tree and of its shape.
func jsonSum(n *jsontree.Node) uint64 {
	h := add(0, uint64(jsontree.Count(n)))
	for _, c := range jsontree.AppendJSON(nil, n) {
		h = add(h, uint64(c))
	}
	return h
}

// jsonArena is a jsontree.Allocator that takes everything from an arena.
type jsonArena struct{ mem *arena.Arena }

func (m jsonArena) NewNode() *jsontree.Node { return arena.New[jsontree.Node](m.mem) }
func (m jsonArena) String(b []byte) string  { return arena.String(m.mem, b) }

// jsonLanes is a jsontree.Allocator that takes nodes from a lane.
type jsonLanes struct {
	mem   *arena.Arena
	nodes *arena.Lane[jsontree.Node]
}

func (m jsonLanes) NewNode() *jsontree.Node { return m.nodes.New() }
func (m jsonLanes) String(b []byte) string  { return arena.String(m.mem, b) }

// jsonBump is a jsontree.Allocator that takes everything from a bump arena.
type jsonBump struct{ mem *bump.Arena }

func (m jsonBump) NewNode() *jsontree.Node { return bump.New[jsontree.Node](m.mem) }
func (m jsonBump) String(b []byte) string  { return bump.String(m.mem, b) }
