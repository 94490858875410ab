package check

import "sync"

// The quarantine: what was released as a whole, oldest first.
var quarantine struct {
	mu    sync.Mutex
	queue []*Released
	bytes int
}

// Retire poisons r, whose memory is zero and is not going to be used again, and puts
// it into quarantine. What has to leave for it is verified, and a write to that is
// reported.
func Retire(r *Released) {
	r.Poison()
	quarantine.mu.Lock()
	quarantine.queue = append(quarantine.queue, r)
	quarantine.bytes += r.weight()
	quarantine.mu.Unlock()
	let(func() bool { return quarantine.bytes > set.quarantine })
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
		let(func() bool { return true })
	}
}

// let has the oldest leave the quarantine as long as more reports true. A
// write to what leaves is reported.
func let(more func() bool) {
	for {
		quarantine.mu.Lock()
		if len(quarantine.queue) == 0 || !more() {
			quarantine.mu.Unlock()
			return
		}
		r := quarantine.queue[0]
		quarantine.queue[0] = nil
		quarantine.queue = quarantine.queue[1:]
		quarantine.bytes -= r.weight()
		quarantine.mu.Unlock()
		bad, left := r.Damage(), r.Left
		r.Mem, r.Left = nil, nil // the collector's
		if left != nil {
			left()
		}
		if bad != nil {
			bad.Now = Release().String()
			Raise(bad)
		}
	}
}

// Verify compares all that is in quarantine with its poison, looks at the red zones of
// memory in use, and returns a report for each that was written to, once.
func Verify() []*Report {
	found := append(verifyObjects(), verifyUntyped()...)
	if Guard.Verify != nil {
		found = append(found, Guard.Verify()...)
	}
	quarantine.mu.Lock()
	defer quarantine.mu.Unlock()
	kept := quarantine.queue[:0]
	for _, r := range quarantine.queue {
		if bad := r.Damage(); bad != nil {
			found = append(found, bad)
			quarantine.bytes -= r.weight()
			continue
		}
		kept = append(kept, r)
	}
	clear(quarantine.queue[len(kept):])
	quarantine.queue = kept
	return found
}
