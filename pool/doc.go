// Package pool keeps objects that are costly to make between two uses: records
// with buffers, encoders, scratch space, byte buffers of any size.
//
// Use it where such objects are made and dropped often enough to show in a
// profile, and where one of them more or less does not matter: what a pool keeps
// is bounded, and it trims what nobody needs. Do not use it for small objects that
// Go's heap makes in 20 ns; for a structure whose objects live long (see package
// slab); for objects that end together (see package arena); or where each object
// must be closed, since a pool drops objects without a word, as the garbage
// collector does.
//
//	records := pool.New(newRecord, pool.Config[Record]{Reset: (*Record).reset, Max: 10_000})
//	r := records.Get()
//	…
//	records.Put(r)
//
//	var buffers pool.Bytes
//	b := buffers.Get(3000) // *[]byte of length 3000
//	…
//	buffers.Put(b)
//
// [Pool] is for one type and any number of goroutines. [Bytes] is the same for byte
// buffers, in size classes. [Local] is for one goroutine.
//
// # What is different from sync.Pool
//
// A sync.Pool drops what it has within two garbage collections, in use or not, and
// has no bound between them. A Pool here keeps what the program needs however often
// the garbage is collected, and gives the rest back in steps. It is bounded in
// objects and in bytes (Max, MaxBytes and Cost of a [Config]), strictly and at no cost to
// the fast path; it can keep a minimum (Floor), resets objects as they come back
// (Reset), notices many of the objects that are put twice, and counts what happens
// ([Stats]).
//
// # How it works
//
// Each P, a processor of Go's scheduler, has two magazines of up to 57 objects. A
// goroutine on this P takes from them and adds to them without a lock or an atomic
// instruction. A P whose magazines are empty fetches one from the depot, under its
// lock; a P whose magazines are full brings one. (The idea is Bonwick's and Adams':
// Magazines and Vmem, USENIX 2001.) With the build tag haven_nolinkname, and on
// unknown Go versions, a few pairs of magazines have a lock each instead, and a
// goroutine takes a pair by chance.
//
// # Reuse
//
// An object is reused because its user put it, and only then. An object that is
// used after its Put is somebody else's: a data race, which the race detector
// reports. An object that is never put goes to the garbage collector.
//
// Of one object in 1024 that is put, none is kept: the garbage collector gets it and
// tells whether something still refers to it. See StalePointers of package check.
package pool
