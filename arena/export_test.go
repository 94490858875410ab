package arena

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
)

// What a Pool says of its bound holds. It does not compile otherwise.
var _ = [1]int{}[MaxIdle-magazine.MaxIdle]

// TrimPool does what a pool does after a garbage collection.
func TrimPool(p *Pool) { p.idle.Trim() }

// What New writes of a Lane, from and to.
const (
	WriteFrom = unsafe.Offsetof(Lane[int]{}.i)
	WriteTo   = unsafe.Offsetof(Lane[int]{}.lo) + unsafe.Sizeof(0)
	LaneBytes = unsafe.Sizeof(Lane[int]{})
)

// Read is what New reads of an Arena: from and to.
var Read = [][2]uintptr{
	{unsafe.Offsetof(Arena{}.near), unsafe.Offsetof(Arena{}.shift) + 1},
	{unsafe.Offsetof(Arena{}.slots), unsafe.Offsetof(Arena{}.own)},
}

// The cursors lie right before the common part: see cursors. It does not compile otherwise.
var _ = [1]int{}[unsafe.Offsetof(typed[int]{}.c)-unsafe.Offsetof(typed[int]{}.i)-unsafe.Sizeof(cursors{})] +
	[1]int{}[unsafe.Offsetof(dynamic{}.c)-unsafe.Offsetof(dynamic{}.i)-unsafe.Sizeof(cursors{})]
