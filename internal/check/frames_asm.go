//go:build haven_check && (amd64 || arm64)

package check

import "unsafe"

// Frames on these machines begin with the frame pointer of the caller, and the
// address that the call returns to lies behind it.

// framePointer returns what the frame pointer is in its caller.
func framePointer() unsafe.Pointer

// fingerprint returns a number that is different for different stacks, as far as n
// frames go. It costs a nanosecond or two for each, where runtime.Callers needs
// fifty, since it does not ask what was inlined. It reports false if it could not
// follow the frames.
//
//go:noinline
func fingerprint(n int) (h uint64, ok bool) {
	// SAFETY: the chain of frame pointers is this goroutine's own stack, up to nil
	// in its first frame. Held as pointers they stay right if the stack moves.
	fp := framePointer()
	for range n {
		h = (h ^ uint64(*(*uintptr)(unsafe.Add(fp, wordSize)))) * 0x9E3779B97F4A7C15
		h ^= h >> 29
		next := *(*unsafe.Pointer)(fp)
		if next == nil {
			return h, true
		}
		if uintptr(next)-uintptr(fp) > maxFrame { // also if it is below
			return 0, false
		}
		fp = next
	}
	return h, true
}

// maxFrame bounds the bytes of a frame: another is not Go's.
const maxFrame = 16 << 20
