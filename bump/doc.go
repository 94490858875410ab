// Package bump gives out memory that Go's garbage collector never scans, so
// that a pointer stored in it keeps nothing alive unless it points into the
// same arena.
//
// Use it for large graphs that live long and point only into themselves, such
// as indexes, syntax trees and caches of decoded records: the collector marks
// one word per chunk, whatever the number of objects. Do not use it for values
// that refer to the heap (maps, channels, functions, interfaces, strings and
// slices made elsewhere): package arena takes those. If a heap object must be
// referred to all the same, something else must refer to it, too.
//
//	var a bump.Arena
//	n := bump.New[Node](&a)       // zero; may point to Nodes of a
//	n.Name = bump.String(&a, key) // the text has to be in a, too
//
// # What is safe
//
// Any pointer into an arena keeps the whole arena alive, so nothing dangles
// while it is referred to, also after [Arena.Free] and when the Arena itself is
// gone. [Arena.Reset] is the exception that the caller asks for: it hands the
// same bytes out again as other types. A pointer kept over a Reset is a bug
// that the garbage collector cannot mend; where pointers may be kept, use Free,
// or package arena.
//
// # How it works
//
// A chunk is a pointer to the arena's root followed by bytes, so that the
// collector's map of it is one word:
//
//	chunk ─► [ owner │ data ………………………………… ]      root: every chunk
//	             └──────► root ──► all chunks
//
// Within the open chunk objects come down from the end and everything else goes
// up from the start, so that the last slice can grow in place. The cursors are
// offsets from real pointers; an address is never kept as a number.
package bump
