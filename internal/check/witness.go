package check

import "slices"

// releasedAround returns what is known of the memory around an address, if that was
// released and waits.
func releasedAround(address uintptr) (history, bool) {
	if x, _ := findObject(address); x != nil && x.freed {
		return x.what.around(address)
	}
	loans.mu.Lock()
	if x := at(address); x != nil && x.idle {
		defer loans.mu.Unlock()
		return history{x.what.String(), x.what.allocations(), x.what.Site.String()}, true
	}
	loans.mu.Unlock()
	quarantine.mu.Lock()
	defer quarantine.mu.Unlock()
	for _, x := range quarantine.queue {
		for i := range x.List {
			if k, ok := x.List[i].around(address); ok {
				return k, true
			}
		}
	}
	return history{}, false
}

// around returns what is known of the allocation around an address, if it is one of r.
func (r *Released) around(address uintptr) (history, bool) {
	at := address - uintptr(r.Mem) // SAFETY: GC.md fact 13: addresses of heap memory are compared
	if at >= r.size() {
		return history{}, false
	}
	if u := r.untyped; u != nil {
		for _, list := range [][]Extent{u.low, u.high} {
			if i := slices.IndexFunc(list, func(e Extent) bool { return at-e.at < e.size }); i >= 0 {
				return history{list[i].describe(r.Owner), list[i].site.String(), r.Site.String()}, true
			}
		}
		return history{}, false
	}
	i := int(at / r.Type.Size())
	one := Released{Owner: r.Owner, Type: r.Type, N: 1}
	return history{one.String(), r.siteOf(i).String(), r.Site.String()}, i < r.From || i >= r.To
}
