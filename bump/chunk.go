package bump

import (
	"reflect"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/chunk"
	"github.com/haven-mem/haven/internal/sanitize"
)

// A root holds an arena's chunks together: every chunk points to it and it
// points to every chunk, so that reaching one is reaching all.
type root struct {
	seen   check.Only[*check.Untyped] // what is known of the memory
	chunks []block
}

// add puts a new chunk on the list.
func (r *root) add(b block, a *Arena) {
	r.chunks = append(r.chunks, b)
	r.noteChunk(b, a)
}

// A block is one chunk in the root's list, with the part of its data that was
// in use when it was left: [0, lo) and [hi, size).
type block struct {
	allocs check.Only[uintptr] // the number of its allocations
	data   unsafe.Pointer      // the first byte that can be given out
	size   uintptr             // bytes that can be given out
	lo, hi uintptr
}

// A region is the Go type of a chunk. The owner comes first, so that the
// garbage collector looks at one word of it: GC.md fact 3.
type region[D any] struct {
	owner *root
	data  D
}

var byteType = reflect.TypeFor[byte]()

const (
	// head is the offset of a chunk's data: the owner, rounded up so that the
	// data is aligned for every Go type, on machines of 32 bits as well.
	head = unsafe.Sizeof(atomic.Int64{})
	// slack bytes at the end are never given out: a pointer to an empty value
	// there must not point behind the chunk (GC.md fact 5).
	slack = 8
	// overhead is what a chunk takes beside what it gives out.
	overhead = head + slack
)

// newBlock makes a zero chunk with room for at least want bytes.
func newBlock(r *root, want uintptr) block {
	p, total := makeChunk(r, want+overhead)
	// SAFETY: GC.md fact 3: head is within the chunk, which is larger than
	// overhead.
	b := block{data: unsafe.Add(p, head), size: total - overhead}
	b.hi = b.size
	sanitize.Withhold(b.data, b.size+slack)
	return b
}

// chunkSize returns the size of the chunk that is made for at least total bytes.
func chunkSize(total uintptr) uintptr {
	for _, m := range makers {
		if total <= m.total {
			return m.total
		}
	}
	return roundUp(uintptr(chunk.Round(int(total))))
}

// makeChunk allocates the smallest region of at least total bytes and returns
// it with its size.
func makeChunk(r *root, total uintptr) (unsafe.Pointer, uintptr) {
	for _, m := range makers {
		if total <= m.total {
			return m.make(r), m.total
		}
	}
	// Beyond the table a type is made at run time. Sizes are rounded, so there
	// are only a few of them: types are never freed.
	total = uintptr(chunk.Round(int(total)))
	t := reflect.StructOf([]reflect.StructField{
		{Name: "Owner", Type: reflect.TypeFor[*root]()},
		{Name: "Data", Type: reflect.ArrayOf(int(total-unsafe.Sizeof(r)), reflect.TypeFor[byte]())},
	})
	v := reflect.New(t)
	v.Elem().Field(0).Set(reflect.ValueOf(r))
	return v.UnsafePointer(), t.Size()
}

// A maker allocates chunks of one size.
type maker struct {
	total uintptr
	make  func(*root) unsafe.Pointer
}

func of[D any]() maker {
	return maker{
		total: unsafe.Sizeof(region[D]{}),
		make:  func(r *root) unsafe.Pointer { return unsafe.Pointer(&region[D]{owner: r}) },
	}
}

const (
	kib = 1 << 10
	mib = 1 << 20
	// ptr is the size of the owner, and hdr that of the header that Go puts
	// before objects with pointers of more than 512 bytes, where a word has 32
	// bits of more than 128, up to 32 KiB (GC.md fact 2).
	ptr = unsafe.Sizeof(uintptr(0))
	hdr = 8
)

// makers are in the order of size: one size to each size class of Go's heap
// that is a power of two, and from 64 KiB on four steps to each power of two,
// as chunk.Round makes them.
var makers = [...]maker{
	of[[chunk.First - ptr]byte](), of[[1*kib - hdr - ptr]byte](), of[[2*kib - hdr - ptr]byte](),
	of[[4*kib - hdr - ptr]byte](), of[[8*kib - hdr - ptr]byte](), of[[16*kib - hdr - ptr]byte](),
	of[[32*kib - ptr]byte](), of[[40*kib - ptr]byte](), of[[48*kib - ptr]byte](), of[[56*kib - ptr]byte](),
	of[[64*kib - ptr]byte](), of[[80*kib - ptr]byte](), of[[96*kib - ptr]byte](), of[[112*kib - ptr]byte](),
	of[[128*kib - ptr]byte](), of[[160*kib - ptr]byte](), of[[192*kib - ptr]byte](), of[[224*kib - ptr]byte](),
	of[[256*kib - ptr]byte](), of[[320*kib - ptr]byte](), of[[384*kib - ptr]byte](), of[[448*kib - ptr]byte](),
	of[[512*kib - ptr]byte](), of[[640*kib - ptr]byte](), of[[768*kib - ptr]byte](), of[[896*kib - ptr]byte](),
	of[[1*mib - ptr]byte](), of[[1280*kib - ptr]byte](), of[[1536*kib - ptr]byte](), of[[1792*kib - ptr]byte](),
	of[[2*mib - ptr]byte](), of[[2560*kib - ptr]byte](), of[[3*mib - ptr]byte](), of[[3584*kib - ptr]byte](),
	of[[4*mib - ptr]byte](), of[[5*mib - ptr]byte](), of[[6*mib - ptr]byte](), of[[7*mib - ptr]byte](),
	of[[8*mib - ptr]byte](), of[[10*mib - ptr]byte](), of[[12*mib - ptr]byte](), of[[14*mib - ptr]byte](),
	of[[16*mib - ptr]byte](), of[[20*mib - ptr]byte](), of[[24*mib - ptr]byte](), of[[28*mib - ptr]byte](),
	of[[32*mib - ptr]byte](), of[[40*mib - ptr]byte](), of[[48*mib - ptr]byte](), of[[56*mib - ptr]byte](),
	of[[64*mib - ptr]byte](), of[[80*mib - ptr]byte](), of[[96*mib - ptr]byte](), of[[112*mib - ptr]byte](),
}
