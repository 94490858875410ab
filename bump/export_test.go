package bump

import "unsafe"

// MaxSize is the largest size that Alloc accepts.
const MaxSize = maxSize

// Overhead is what a chunk takes beside what it gives out, in bytes.
const Overhead = int(overhead)

// Zone is what a red zone takes: nothing, but in the check build.
const Zone = zone

// An Extent is the memory of one chunk that can be handed out.
type Extent struct {
	Data unsafe.Pointer
	Size uintptr
}

// Extents returns the arena's chunks, oldest first.
func Extents(a *Arena) []Extent {
	if a.root == nil {
		return nil
	}
	var e []Extent
	for _, b := range a.root.chunks {
		e = append(e, Extent{b.data, b.size})
	}
	return e
}

// ChunkSizes returns the sizes of the table that chunks are made from.
func ChunkSizes() []uintptr {
	var sizes []uintptr
	for _, m := range makers {
		sizes = append(sizes, m.total)
	}
	return sizes
}

// MakeChunk makes a chunk of at least total bytes, of an arena of its own, and
// returns its start and size.
func MakeChunk(total uintptr) (unsafe.Pointer, uintptr) { return makeChunk(new(root), total) }

// RootOf returns what holds the arena's chunks together, which lives as long as one of
// them.
func RootOf(a *Arena) *root { return a.root }
