// Package load sends orders to a gateway and measures what they cost: to one that
// runs, with [Drive], or to two that it starts, one on Go's heap and one on Haven,
// with [Compare].
//
// # The two gateways
//
// They are one program: the same decoder, checks, matching and reply, written
// once. The one on the heap is what a good Go program would be: orders are structs
// that point to each other, found in a map, their text a string; what a request
// needs is made with new, make and append, with capacity where it is known; the
// buffers of bodies are in a sync.Pool. The one on Haven has the orders in a
// slab.Table, linked by handles, which are their ids as well, so that it needs no
// map; what a request needs in the arena of its memory context; the buffers in a
// pool.Bytes. The decoder is one for this format, which takes a fraction of what
// encoding/json does and has fewer objects, so that it is memory that is compared
// and not decoders.
//
// # The flow
//
// A request is a batch of 1 to 64 instructions, 32.5 on average. Of 100
// instructions, 42 are new orders more than 5 ticks from the middle of the book,
// 42 cancel such orders, at random, 8 are new orders within 5 ticks, and 8 are
// immediate ones that trade with those. So there is one trade or so for each dozen
// of orders, as many orders rest at the end as at the beginning, and none is
// cancelled that somebody else has just filled. There are 200 symbols and 1,000
// accounts. A million resting orders make books of 5,000, in some 200 levels a
// side.
//
// # How it is measured
//
// Requests are sent over connections that stay open, from bodies that were
// rendered beforehand and in which only ids, accounts and references change: what
// the generator does is little, as it shares the machine with the gateway.
//
// At a fixed rate, each request has a time at which it should be sent, whatever
// became of those before it. Its latency counts from that time to the end of its
// reply. A gateway that stops for 10 ms thus spoils all requests that were due in
// these 10 ms (Gil Tene calls leaving them out coordinated omission). On systems
// other than Linux the generator's own timers are up to a millisecond late, which
// is in the latencies.
//
// CPU time is that of the gateway's process, user and system, with all that the
// runtime and net/http do; it is the sum that counts, since the part of memory in
// it cannot be told apart. At a fixed rate much of it is the work of waking up,
// thousands of times a second, on processors that have nothing else to do; as fast
// as it goes there is less of that.
//
// The collector's CPU time is what Go's runtime says, which adds a cycle when it
// ends; so it is given as the mean over all rounds. It includes what the collector
// does on a processor that is idle, and, since the runtime goes by the clock, the
// time in which the system runs something else instead: on a busy machine it is
// too much.
package load
