package bump_test

import (
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/testkit"
)

// bytesAt returns the n bytes at p.
func bytesAt(p unsafe.Pointer, n uintptr) []byte { return unsafe.Slice((*byte)(p), n) }

// isZero reports whether all of b is zero.
func isZero(b []byte) bool {
	for _, v := range b {
		if v != 0 {
			return false
		}
	}
	return true
}

// fill writes v to all of b.
func fill(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// wantPanic runs f and checks that it panics with a text that has all the parts.
func wantPanic(t *testing.T, what string, f func(), parts ...string) {
	t.Helper()
	v := testkit.Panic(t, f)
	text := fmt.Sprint(v)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: panic %q, want %q in it", what, text, part)
		}
	}
	if _, isRuntime := v.(interface{ RuntimeError() }); isRuntime {
		t.Errorf("%s: runtime error %q, want a panic of the package", what, text)
	}
}

func TestAlignment(t *testing.T) {
	// Chunks lie at other addresses in each arena, so there are many.
	for range 50 {
		var a bump.Arena
		for align := uintptr(1); align <= bump.MaxAlign; align *= 2 {
			for _, size := range []uintptr{0, 1, 7, align, 3 * align, 5000} {
				p := a.Alloc(size, align)
				if uintptr(p)%align != 0 {
					t.Fatalf("Alloc(%d, %d) = %p", size, align, p)
				}
				if !a.Owns(p) || !a.Owns(unsafe.Add(p, size)) {
					t.Fatalf("Alloc(%d, %d) = %p is not the arena's", size, align, p)
				}
				if b := bytesAt(p, size); !isZero(b) {
					t.Fatalf("Alloc(%d, %d) is not zero", size, align)
				} else {
					fill(b, 0xff)
				}
				if q := a.Realloc(p, size, size+1, align); uintptr(q)%align != 0 {
					t.Fatalf("Realloc(…, %d, %d) = %p", size+1, align, q)
				}
			}
			a.Alloc(1, 1)
		}
	}
}

// TestAlignmentIsOfAddresses allocates with the largest alignment as the very
// first of an arena, in chunks of all sizes.
func TestAlignmentIsOfAddresses(t *testing.T) {
	for size := uintptr(1); size <= 1<<20; size *= 2 {
		for align := uintptr(16); align <= bump.MaxAlign; align *= 4 {
			var a bump.Arena
			if p := a.Alloc(size, align); uintptr(p)%align != 0 || !a.Owns(p) || !a.Owns(unsafe.Add(p, size-1)) {
				t.Fatalf("first Alloc(%d, %d) = %p, the arena's: %v", size, align, p, a.Owns(p))
			}
			s := a.Stats()
			if checkSum(t, "aligned", s); s.Chunks != 1 {
				t.Errorf("first Alloc(%d, %d) took %d chunks", size, align, s.Chunks)
			}
		}
	}
}

func TestBadAlignment(t *testing.T) {
	var a bump.Arena
	p := a.Alloc(8, 8)
	for _, align := range []uintptr{0, 3, 6, 12, 4095, 4097, 8192, 1 << 31, ^uintptr(0), ^uintptr(0)>>1 + 1} {
		value := fmt.Sprintf("alignment %d:", align)
		wantPanic(t, "Alloc", func() { a.Alloc(8, align) }, "bump: Alloc: ", value)
		wantPanic(t, "Realloc", func() { a.Realloc(p, 8, 16, align) }, "bump: Realloc: ", value)
		wantPanic(t, "TryAlloc", func() { a.TryAlloc(8, align) }, "bump: TryAlloc: ", value)
	}
	if s := a.Stats(); s.InUse != 8 {
		t.Errorf("after refused calls: %v", s)
	}
}

func TestSizesThatOverflow(t *testing.T) {
	var a bump.Arena
	p := a.Alloc(8, 8)
	for _, size := range []uintptr{bump.MaxSize + 1, ^uintptr(0), ^uintptr(0) - 7, ^uintptr(0)>>1 + 1, ^uintptr(0) >> 1} {
		value := fmt.Sprint(size)
		for _, align := range []uintptr{1, 8, 4096} {
			wantPanic(t, "Alloc", func() { a.Alloc(size, align) }, "bump: Alloc: ", value, "address space")
		}
		wantPanic(t, "Realloc", func() { a.Realloc(p, 8, size, 8) }, "bump: Realloc: ", value, "address space")
		wantPanic(t, "Realloc of nil", func() { a.Realloc(nil, 0, size, 8) }, "bump: Realloc: ", value, "address space")
	}
	for _, n := range []int{math.MaxInt, math.MaxInt / 8, int(bump.MaxSize/8) + 1} {
		wantPanic(t, "MakeSlice", func() { bump.MakeSlice[int64](&a, 0, n) },
			"bump: MakeSlice[int64]", fmt.Sprint(n), "address space")
	}
	// 16 times these is 0, or 16, to who does not look.
	for _, n := range []int{1 << (bits.UintSize - 4), 1<<(bits.UintSize-4) + 1} {
		wantPanic(t, "MakeSlice", func() { bump.MakeSlice[[16]byte](&a, 0, n) },
			"bump: MakeSlice[[16]uint8]", fmt.Sprint(n), "address space")
	}
	wantPanic(t, "MakeSlice", func() { bump.MakeSlice[byte](&a, -1, 5) }, "bump: MakeSlice[uint8]", "length -1", "capacity 5")
	wantPanic(t, "MakeSlice", func() { bump.MakeSlice[byte](&a, 3, 2) }, "bump: MakeSlice[uint8]", "length 3", "capacity 2")
	wantPanic(t, "MakeSlice", func() { bump.MakeSlice[byte](&a, 0, -2) }, "bump: MakeSlice[uint8]", "capacity -2")
	if unsafe.Sizeof(p) == 4 {
		wantPanic(t, "New", func() { bump.New[[math.MaxInt32 - 4095]byte](&a) }, "bump: New: ", "address space")
	}
	if a.Alloc(8, 8); a.Stats().InUse != 16+sanitize.Zone {
		t.Errorf("after refused calls: %v", a.Stats())
	}
}

// TestEverySizeAndAlignment packs small things of all sorts and checks that
// none touches another.
func TestEverySizeAndAlignment(t *testing.T) {
	var a bump.Arena
	var all [][]byte
	for size := uintptr(1); size < 80; size++ {
		for align := uintptr(1); align <= 64; align *= 2 {
			b := bytesAt(a.Alloc(size, align), size)
			if !isZero(b) {
				t.Fatalf("Alloc(%d, %d) is not zero", size, align)
			}
			fill(b, byte(len(all)))
			all = append(all, b)
			o := bump.New[[3]byte](&a)
			o[0], o[1], o[2] = byte(len(all)), byte(len(all)), byte(len(all))
			all = append(all, o[:])
		}
	}
	for i, b := range all {
		for _, v := range b {
			if v != byte(i) {
				t.Fatalf("allocation %d of %d bytes was overwritten", i, len(b))
			}
		}
	}
}

// TestLargerThanAnyChunk goes beyond the table of chunk sizes, whose chunks
// have types that are made at run time.
func TestLargerThanAnyChunk(t *testing.T) {
	if testing.Short() {
		t.Skip("takes 128 MiB")
	}
	sizes := bump.ChunkSizes()
	size := sizes[len(sizes)-1] + 1
	var a bump.Arena
	small := bump.NewFrom(&a, 7)
	p := a.Alloc(size, 4096)
	b := bytesAt(p, size)
	b[0], b[size-1] = 1, 2
	testkit.CollectGarbage()
	if uintptr(p)%4096 != 0 || b[0] != 1 || b[size/2] != 0 || b[size-1] != 2 || *small != 7 {
		t.Errorf("%d bytes at %p: contents changed", size, p)
	}
	if s := a.Stats(); s.Reserved > int(size)*5/4+1<<12 || s.Reserved != s.InUse+s.Idle+s.Gaps+s.Overhead {
		t.Errorf("an allocation of %d bytes: %v", size, s)
	}
	if !a.Owns(p) || !a.Owns(unsafe.Pointer(&b[size-1])) {
		t.Error("Owns is false")
	}
	a.Reset()
	if s := a.Stats(); s.Reserved != 0 {
		t.Errorf("kept over Reset: %v", s)
	}
}
