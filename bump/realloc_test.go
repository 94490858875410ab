package bump_test

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// counted returns n bytes of a, numbered from 1.
func counted(a *bump.Arena, n uintptr) unsafe.Pointer {
	p := a.Alloc(n, 1)
	for i, b := 0, bytesAt(p, n); i < len(b); i++ {
		b[i] = byte(i + 1)
	}
	return p
}

// numbers returns the bytes from to to-1, one up each.
func numbers(from, to int) []byte {
	var b []byte
	for i := from; i < to; i++ {
		b = append(b, byte(i))
	}
	return b
}

func wantBytes(t *testing.T, what string, p unsafe.Pointer, want ...[]byte) {
	t.Helper()
	all := bytes.Join(want, nil)
	if got := bytesAt(p, uintptr(len(all))); !bytes.Equal(got, all) {
		t.Errorf("%s:\n got %v\nwant %v", what, got, all)
	}
}

// TestReallocInPlace grows from every place inside the latest allocation.
func TestReallocInPlace(t *testing.T) {
	testkit.NeedsPacking(t)
	const n = 20
	for off := uintptr(0); off < n; off++ {
		for old := uintptr(1); old <= n-off; old++ {
			for _, size := range []uintptr{old + 1, n - off + 1, 100} {
				if size <= old {
					continue
				}
				var a bump.Arena
				counted(&a, 5)
				p := counted(&a, n)
				q := a.Realloc(unsafe.Add(p, off), old, size, 1)
				if q != unsafe.Add(p, off) {
					t.Fatalf("Realloc at %d of %d to %d bytes moved", off, old, size)
				}
				wantBytes(t, "before the pointer", p, numbers(1, int(off)+1))
				wantBytes(t, "grown", q, numbers(int(off)+1, int(off+old)+1), make([]byte, size-old))
				end := max(n, off+size)
				if got := a.Stats().InUse; got != int(5+end) {
					t.Fatalf("Realloc at %d of %d to %d bytes: %d in use, want %d", off, old, size, got, 5+end)
				}
				// What comes next lies behind.
				if next := a.Alloc(1, 1); next != unsafe.Add(p, end) {
					t.Fatalf("Realloc at %d of %d to %d bytes: the next allocation is not behind it", off, old, size)
				}
			}
		}
	}
}

func TestReallocToTheLastByte(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	p := counted(&a, 10)
	bump.New[int64](&a)
	room := uintptr(a.Stats().Idle)
	if q := a.Realloc(p, 10, 10+room, 1); q != p {
		t.Fatalf("growing by the %d bytes that are idle moved", room)
	}
	if s := a.Stats(); s.Idle != 0 || s.Chunks != 1 {
		t.Fatalf("after taking all: %v", s)
	}
	bytesAt(p, 10+room)[9+room] = 1
	q := a.Realloc(p, 10+room, 11+room, 1)
	if q == p {
		t.Fatal("grew in place where there was no room")
	}
	wantBytes(t, "moved", q, numbers(1, 11), make([]byte, room-1), []byte{1, 0})
}

func TestReallocMoves(t *testing.T) {
	var a bump.Arena
	p := counted(&a, 10)
	behind := counted(&a, 3)
	q := a.Realloc(p, 10, 12, 1)
	if q == p {
		t.Fatal("grew in place over a later allocation")
	}
	wantBytes(t, "copy", q, numbers(1, 11), []byte{0, 0})
	wantBytes(t, "original", p, numbers(1, 11))
	wantBytes(t, "allocation behind the original", behind, numbers(1, 4))

	// Exactly the old bytes are copied, though there are more.
	a.Alloc(1, 1)
	q = a.Realloc(p, 4, 8, 1)
	wantBytes(t, "copy of 4 bytes", q, numbers(1, 5), make([]byte, 4))

	// To a chunk that has to be opened for it.
	q = a.Realloc(p, 10, 100_000, 1)
	wantBytes(t, "copy in another chunk", q, numbers(1, 11), make([]byte, 99_990))

	// For the sake of alignment.
	for uintptr(q)%64 == 0 {
		q = a.Alloc(20, 4)
	}
	fill(bytesAt(q, 20), 9)
	r := a.Realloc(q, 20, 10, 64)
	if r == q || uintptr(r)%64 != 0 {
		t.Errorf("Realloc to alignment 64: %p → %p", q, r)
	}
	wantBytes(t, "copy of the smaller size", r, bytes.Repeat([]byte{9}, 10))
}

func TestReallocOfNewNeverGrowsInPlace(t *testing.T) {
	var a bump.Arena
	p := bump.NewFrom(&a, int64(-1))
	q := a.Realloc(unsafe.Pointer(p), 8, 16, 8)
	if q == unsafe.Pointer(p) {
		t.Fatal("grew in place")
	}
	wantBytes(t, "copy", q, bytes.Repeat([]byte{255}, 8), make([]byte, 8))
	// New's objects do not stand in the way.
	bump.New[int64](&a)
	if r := a.Realloc(q, 16, 24, 8); r != q {
		t.Error("New after an allocation made it move")
	}
}

func TestReallocShrinks(t *testing.T) {
	var a bump.Arena
	p, q := counted(&a, 10), counted(&a, 10)
	for _, r := range []unsafe.Pointer{p, q} {
		for size := uintptr(10); ; size-- {
			if got := a.Realloc(r, size+1, size, 1); size < 10 && got != r {
				t.Fatalf("shrinking to %d bytes moved", size)
			}
			wantBytes(t, "shrunk", r, numbers(1, int(size)+1))
			if size == 0 {
				break
			}
		}
	}
	// What was given up and is taken back is zero.
	r := counted(&a, 10)
	a.Realloc(r, 10, 4, 1)
	if s := a.Realloc(r, 4, 12, 1); s != r {
		t.Error("growing again moved")
	}
	wantBytes(t, "grown again", r, numbers(1, 5), make([]byte, 8))
}

// TestReallocOfNothing is about empty allocations, which have the address of
// what comes after them: growing one must leave that alone.
func TestReallocOfNothing(t *testing.T) {
	var a bump.Arena
	if p := a.Realloc(nil, 0, 8, 8); !a.Owns(p) || a.Stats().InUse != 8 {
		t.Error("Realloc of nil is no Alloc")
	}
	empty := a.Alloc(0, 1)
	if p := a.Realloc(empty, 0, 4, 1); p != empty {
		t.Error("an empty allocation with room behind it moved")
	}
	empty = a.Alloc(0, 1)
	p := counted(&a, 4)
	q := a.Realloc(empty, 0, 4, 1)
	fill(bytesAt(q, 4), 9)
	wantBytes(t, "the allocation after an empty one that grew", p, numbers(1, 5))

	if p := a.Realloc(p, 4, 0, 1); p == nil {
		t.Error("Realloc to no bytes gave nil")
	}
}

func TestReallocOfForeignMemory(t *testing.T) {
	var a bump.Arena
	heap := numbers(1, 9)
	p := a.Realloc(unsafe.Pointer(&heap[0]), 8, 12, 4)
	if !a.Owns(p) {
		t.Error("did not move into the arena")
	}
	wantBytes(t, "copy", p, numbers(1, 9), make([]byte, 4))

	var b bump.Arena
	q := b.Realloc(p, 12, 16, 4)
	if !b.Owns(q) {
		t.Error("did not move from one arena to the other")
	}
	wantBytes(t, "copy", q, numbers(1, 9), make([]byte, 8))
}

func TestReallocRefuses(t *testing.T) {
	var a bump.Arena
	p := a.Alloc(8, 8)
	wantPanic(t, "nil", func() { a.Realloc(nil, 3, 8, 8) }, "bump: Realloc of 3 bytes at nil")
	wantPanic(t, "too long", func() { a.Realloc(p, 1<<20, 8, 8) }, "bump: Realloc: 1048576 bytes at 0x", "its chunk ends after")
	wantPanic(t, "wrapped", func() { a.Realloc(p, ^uintptr(0), 8, 8) }, "bump: Realloc: ", "its chunk ends after")
	a.Alloc(5000, 1) // p's chunk is not the open one any more
	wantPanic(t, "too long", func() { a.Realloc(p, 1<<20, 8, 8) }, "bump: Realloc: 1048576 bytes at 0x")
}
