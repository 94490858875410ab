//go:build haven_check && !race && gc && go1.24 && !go1.28 && !haven_nolinkname

package check

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// heapArenas has the arenas of Go's heap that are known, by number: the runtime reserves
// each as a whole, for good. What is in one of them is on the heap, or was.
var heapArenas struct {
	mu   sync.Mutex
	list atomic.Pointer[[]uintptr]
}

// heapArena is the logarithm of the size of the runtime's heap arenas, or less.
var heapArena = func() uint {
	if wordSize == 8 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
		return 26
	}
	return 22
}()

// onHeapAt says that there is memory of Go's heap.
func onHeapAt(mem unsafe.Pointer, size uintptr) {
	h := &heapArenas
	for n := uintptr(mem) >> heapArena; n <= (uintptr(mem)+size-1)>>heapArena; n++ {
		if list := h.list.Load(); list != nil && slices.Contains(*list, n) {
			continue
		}
		h.mu.Lock()
		list := []uintptr{n}
		if old := h.list.Load(); old != nil {
			list = append(list, *old...)
		}
		h.list.Store(&list)
		h.mu.Unlock()
	}
}

// sample finds out where objects of some sizes are made at present, with pointers and
// without.
func sample() {
	for size := 16; size <= 512; size += 16 {
		onHeapAt(unsafe.Pointer(unsafe.SliceData(make([]byte, size))), 1)
		onHeapAt(unsafe.Pointer(unsafe.SliceData(make([]*byte, size/int(wordSize)))), 1)
	}
}
