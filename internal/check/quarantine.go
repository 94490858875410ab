package check

import "sync"

// The quarantine: what was released as a whole, the oldest first.
var quarantine struct {
	mu    sync.Mutex
	queue []Retired
	bytes int
}

// Retired is what one release put into quarantine, pieces of memory of one owner.
type Retired struct {
	List []Released
	Left func([]Released) // called when it has left the quarantine, or nil

	bytes int
}

// Retire puts x into quarantine, all of whose memory is poisoned and is not going to
// be used again. What has to leave for it is verified, and a write to that is
// reported.
func Retire(x Retired) {
	for i := range x.List {
		x.bytes += x.List[i].weight()
	}
	quarantine.mu.Lock()
	quarantine.queue = append(quarantine.queue, x)
	quarantine.bytes += x.bytes
	quarantine.mu.Unlock()
	let(false)
}

// onFlush are called by Flush.
var onFlush []func()

// OnFlush has f called when what waits in the queues of owners is to leave them. It
// is for functions init.
func OnFlush(f func()) { onFlush = append(onFlush, f) }

// Flush has all leave the quarantine.
func Flush() {
	if Enabled {
		for _, f := range onFlush {
			f()
		}
		let(true)
	}
}

// let has the oldest leave the quarantine as long as there is too much in it, or
// anything, if all are to leave. A write to what leaves is reported.
func let(all bool) {
	for {
		quarantine.mu.Lock()
		if len(quarantine.queue) == 0 || !all && quarantine.bytes <= set.quarantine {
			quarantine.mu.Unlock()
			return
		}
		x := quarantine.queue[0]
		quarantine.queue[0] = Retired{}
		quarantine.queue = quarantine.queue[1:]
		quarantine.bytes -= x.bytes
		quarantine.mu.Unlock()
		var found []*Report
		for i := range x.List {
			if bad := x.List[i].damage(); bad != nil {
				found = append(found, bad)
			}
		}
		if x.Left != nil {
			x.Left(x.List)
		}
		giveBack(x.List)
		RaiseAll(found)
	}
}

// spare has lists that left the quarantine, for the next releases: what is kept for
// each allocation is not garbage then.
var spare struct {
	mu    sync.Mutex
	lists [][]Released
}

const (
	maxSpare      = 64   // lists
	maxSpareMarks = 4096 // allocations in a list
)

// Room returns an empty list for what a release puts into quarantine. Elements behind
// its length may have Marks and Ends of no length that can be used.
func Room() (list []Released) {
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if n := len(spare.lists); n > 0 {
		list = spare.lists[n-1]
		spare.lists[n-1] = nil // it must not keep what the list will have
		spare.lists = spare.lists[:n-1]
	}
	return list
}

func giveBack(list []Released) {
	marks := 0
	for i := range list {
		r := &list[i]
		if r.untyped != nil {
			r.untyped.giveBack()
		}
		*r = Released{Marks: r.Marks[:0], Ends: r.Ends[:0]}
		marks += cap(r.Marks) + cap(r.Ends)
	}
	spare.mu.Lock()
	defer spare.mu.Unlock()
	if len(spare.lists) < maxSpare && marks <= maxSpareMarks {
		spare.lists = append(spare.lists, list[:0])
	}
}

// damage is Damage of what is in quarantine, once.
func (r *Released) damage() *Report {
	if r.told {
		return nil
	}
	bad := r.Damage()
	r.told = bad != nil
	return bad
}

// Verify compares all that is in quarantine with its poison, looks at the red zones of
// memory in use, and returns a report for each that was written to, once. Those that are
// the same are one.
func Verify() []*Report {
	found := append(verifyQueues(), verifyUntyped()...)
	if Guard.Verify != nil {
		found = append(found, Guard.Verify()...)
	}
	quarantine.mu.Lock()
	defer quarantine.mu.Unlock()
	for _, x := range quarantine.queue {
		for i := range x.List {
			if bad := x.List[i].damage(); bad != nil {
				found = append(found, bad)
			}
		}
	}
	return Merge(found)
}
