// Limit reads records whose sizes come from outside, so from someone who may
// claim anything. The arena's limit turns a claim that is too large into an
// error, and the arena stays usable for the next record.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/haven-mem/haven/arena"
)

// samples returns the n samples of a record, in a. A record is a count and as
// many bytes.
func samples(a *arena.Arena, record []byte) ([]float64, error) {
	n, size := binary.Uvarint(record)
	if size <= 0 || n > 1<<27 {
		return nil, errors.New("no count")
	}
	s, err := arena.TryMakeSlice[float64](a, int(n), int(n))
	if err != nil {
		return nil, err
	}
	if len(record)-size < len(s) {
		return nil, fmt.Errorf("%d samples claimed, %d there", n, len(record)-size)
	}
	for i := range s {
		s[i] = float64(record[size+i]) / 10
	}
	return s, nil
}

func main() {
	a := arena.NewArena(arena.Config{Name: "record", Limit: 64 << 10})
	for _, record := range [][]byte{
		{3, 10, 25, 40},
		binary.AppendUvarint(nil, 1_000_000),
		{2, 7},
		{1, 99},
	} {
		s, err := samples(a, record)
		var limit *arena.LimitError
		switch {
		case errors.As(err, &limit):
			fmt.Printf("refused: %d bytes for %q, which may have %d\n", limit.Requested, limit.Name, limit.Limit)
		case err != nil:
			fmt.Println("malformed:", err)
		default:
			fmt.Println(s)
		}
		a.Reset()
	}
}
