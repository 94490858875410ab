package workload

import (
	"runtime"
	"runtime/debug"
)

// A liveObject is one of the objects that stay: 64 bytes with three pointers.
type liveObject struct {
	next, random *liveObject
	name         string
	data         [4]int
}

var liveHeap *liveObject

// makeLiveHeap makes a linked structure of small objects with at least the
// given bytes, in an order that makes the collector jump. The collector is off
// meanwhile and has seen all of it at the end, so that the next collection
// comes when the program has allocated as much again.
func makeLiveHeap(bytes int) *liveObject {
	percent := debug.SetGCPercent(-1)
	const size = 64 // the size class of a liveObject
	var lists [64]*liveObject
	first := new(liveObject)
	state := uint32(1)
	for i := range bytes / size {
		state = state*1664525 + 1013904223
		k := state >> 26
		p := &liveObject{next: lists[k], random: lists[state>>20&63], name: "live"}
		p.data[0] = i
		lists[k] = p
	}
	// Join the lists: the last object of each points to the next list.
	for _, list := range lists {
		if list == nil {
			continue
		}
		head := &liveObject{next: first, random: list}
		first = head
	}
	debug.SetGCPercent(percent)
	runtime.GC()
	return first
}
