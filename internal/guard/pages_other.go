//go:build !linux && !darwin

package guard

// maxBytes is the size of the largest object or chunk that is guarded.
const maxBytes = 64 << 10

// maxAreas is how many addresses there are.
const maxAreas = MaxSlots

// A region is addresses that systems leave unmapped, behind the first page, whose
// faults Go takes for those of nil pointers. All an area is good for is that faults
// of poisoned pointers tell whose they are.
type region struct{ page, stride uintptr }

func (r *region) reserve() bool {
	r.page, r.stride = 4096, 240
	return true
}

const canOpen = false

func (r *region) at(i int) uintptr                 { return r.page + uintptr(i)*r.stride }
func (r *region) open(i int, bytes uintptr) []byte { return nil }
func (r *region) shut(pages []byte) bool           { return false }
