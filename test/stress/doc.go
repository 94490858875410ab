// Package stress is "haven stress": random programs over all of Haven's packages, in
// which every byte that is read has a known value, to find what is wrong in Haven.
// Use it before a release, on a new version of Go, and on a machine one does not
// trust. It is not a benchmark: what it counts is what was verified.
//
// A run is many programs. A program has some workers, goroutines whose choices follow
// from the program's seed and their number alone, and markets, memories that they
// share. Each worker has memories of its own of every kind, and in them
//
//   - chains: cells of three shapes, linked, in any of ten memories, and moved from
//     one to another;
//   - blocks and raws: slices that grow, texts, words under Realloc;
//   - threads: rows of a table, linked by handles;
//   - buffers, memory contexts with what is in them, and whole arenas that go from
//     worker to worker.
//
// The content of a value follows from its seed, so that the shadow of a memory is a
// seed and a number for each value. What refers to an object of Go's heap alone is a
// cell: if the collector does not see the cell, the object dies and its stamp is wrong.
//
// The weather, see mode, decides what the collector does meanwhile. Each mode runs in
// a process of its own, since some are settings of a process and since what is found
// may be a crash.
package stress
