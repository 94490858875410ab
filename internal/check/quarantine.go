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
	quarantine.bytes += int(r.size())
	var found *Report
	k := 0
	for ; k < len(quarantine.queue) && quarantine.bytes > set.quarantine; k++ {
		old := quarantine.queue[k]
		quarantine.bytes -= int(old.size())
		if bad := old.Damage(); found == nil {
			found = bad
		}
		old.Mem = nil // the collector's
	}
	clear(quarantine.queue[:k])
	quarantine.queue = quarantine.queue[k:]
	quarantine.mu.Unlock()
	if found != nil {
		found.Now = Release().String()
		Raise(found)
	}
}

// Verify compares all that is in quarantine with its poison and returns a report for
// each piece that was written to, once.
func Verify() []*Report {
	found := verifyObjects()
	quarantine.mu.Lock()
	defer quarantine.mu.Unlock()
	kept := quarantine.queue[:0]
	for _, r := range quarantine.queue {
		if bad := r.Damage(); bad != nil {
			found = append(found, bad)
			quarantine.bytes -= int(r.size())
			continue
		}
		kept = append(kept, r)
	}
	clear(quarantine.queue[len(kept):])
	quarantine.queue = kept
	return found
}
