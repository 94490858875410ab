// Package bench is the harness behind "haven bench": it runs the workloads of
// package workload through their variants, side by side, and reports times,
// allocations, collector work and memory with their uncertainty.
//
// Use it through the command. It is not a replacement for go test -bench: it
// knows nothing of b.N, and it exists to compare ways of allocating the same
// data in whole programs, where what the collector does minutes later counts.
//
// # How a case is measured
//
// Every variant runs in a child process of its own (the same executable,
// started with [ChildCommand]), which lives for the whole case: neither heap
// size nor peak memory leaks from one variant to another. The parent lets the
// children take turns, one round each, in an order that rotates, and only one
// child works at a time. What disturbs the machine for a second thus disturbs
// all variants alike, and cancels out of the ratios.
//
// One call of an instance's Round is a pass. When a pass of the baseline is
// too short to be timed well, a round is several passes, the same number for
// every variant, after a quarter as many that are not measured: the child slept
// while the others had their turns. The first round of each variant is thrown
// away. Rounds are
// added until the time budget is used up, within a smallest and a greatest
// number; the unused budget of one case goes to the ones after it.
//
// Two kinds of cases differ. The variants of a case whose processes are too
// large to be in memory together run one after the other. Those of a case whose
// rounds mostly wait run at the same time, in one round without a warm-up; they
// begin a moment apart, so that what they do before they wait does not coincide.
// One round has no interval, and its time is not to be taken for more than it
// is.
//
// After each round the child waits until its background work (a collection
// that is still marking, the sweeper) has come to rest, and only then answers.
// So a round pays for the collections it started, and no other variant's round
// is slowed by them. No collection is ever forced: that would start each round
// with an empty heap, and allocation-heavy variants would reach the trigger
// less often than they do in life.
//
// # What is measured
//
//   - Time: wall time of the passes, or of the part a workload singled out.
//   - Allocations and bytes: the growth of MemStats.Mallocs and TotalAlloc over
//     the passes, per operation. The harness allocates nothing in between.
//     Stacks, collector workers and the like make for a few per round.
//   - Collections: the growth of MemStats.NumGC up to the rest after the round.
//   - GC CPU: the growth of the runtime metric /cpu/classes/gc/total, which the
//     runtime brings up to date at the end of a cycle. Because the child has
//     come to rest, no cycle is open when it is read. Rounds are shorter than
//     the time between collections as often as not, so the figure shown is the
//     mean over the rounds and not the median. Idle-priority marking is
//     included: it is work that the heap's shape causes, done by a core that
//     happened to be free. A busy server does the same work on cores that are
//     not free. The idle part is kept apart in the JSON output.
//   - Peak RSS: the high-water mark of the child's resident set over its life,
//     warm-up and setup included; known on Linux and macOS only.
//   - Latencies: percentiles of all single operations of all rounds together.
//
// With the unit "byte", the time is shown as MB/s (10⁶ bytes), and an operation
// (as in allocs/op) is one pass.
//
// # Statistics
//
// Nothing is assumed about distributions (golang.org/x/perf/benchmath with
// AssumeNothing). A time is the median over the rounds with a confidence
// interval for the median; the spread is its wider side in percent. A ratio is
// the median over rounds of the baseline's time divided by the variant's time
// in the same round, with the interval of that sample. The level is 95 %; with
// fewer than six rounds that cannot be had, and the interval is the whole
// range of the sample, at the level that this gives (75 % for three rounds).
//
// # JSON
//
// With -json the output is one object, a [Report]. Its fields are documented
// there and on the types it holds. Times are in nanoseconds, memory in bytes;
// "schema" is raised when a field changes its meaning.
package bench
