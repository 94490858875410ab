package bump_test

import (
	"bytes"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/testkit"
)

// checkNew allocates Ts until several chunks were used, and checks that they
// are zero, aligned, owned and apart.
func checkNew[T comparable](t *testing.T, v T) {
	t.Helper()
	var a bump.Arena
	var zero T
	size, align := unsafe.Sizeof(zero), unsafe.Alignof(zero)
	n := int(20_000/max(size, 8)) + 4
	all := make([]*T, n)
	for i := range all {
		p := bump.New[T](&a)
		if *p != zero || uintptr(unsafe.Pointer(p))%align != 0 || !a.Owns(unsafe.Pointer(p)) {
			t.Fatalf("New[%T] %d of %d: %v at %p", zero, i, n, *p, p)
		}
		*p = v
		all[i] = p
	}
	seen := map[*T]bool{}
	for _, p := range all {
		if *p != v || size > 0 && seen[p] {
			t.Fatalf("New[%T]: %v at %p, want %v once", zero, *p, p, v)
		}
		seen[p] = true
	}
	// Objects take multiples of 8 bytes, and nothing is put between them.
	if want, got := n*int((size+7)&^7), a.Stats().InUse; got != want {
		t.Errorf("%d × New[%T]: %d bytes in use, want %d", n, zero, got, want)
	}
}

func TestNew(t *testing.T) {
	testkit.NeedsPacking(t)
	checkNew(t, true)
	checkNew(t, uint16(3))
	checkNew(t, [3]byte{1, 2, 3})
	checkNew(t, int32(-4))
	checkNew(t, uint64(1<<63))
	checkNew(t, complex(1, 2))
	checkNew(t, [9]uint16{8: 5})
	checkNew(t, struct{}{})
	checkNew(t, [0]uint64{})
	checkNew(t, struct {
		n uint64
		e struct{}
	}{n: 4})
	checkNew(t, [100]uint64{50: 1})
	checkNew(t, [3000]uint64{2999: 1})
	checkNew(t, [40_000]byte{39_999: 1})
}

// TestNewOf64Bits is about 386, where 8-byte values that are used atomically
// must be aligned to 8 though other values of 8 bytes are not.
func TestNewOf64Bits(t *testing.T) {
	var a bump.Arena
	for i := range 1000 {
		bump.String(&a, "abc"[:i%4])
		bump.New[byte](&a)
		n := bump.New[struct {
			b byte
			n atomic.Int64
		}](&a)
		if n.n.Add(1) != 1 {
			t.Fatal("not zero")
		}
		s := bump.MakeSlice[atomic.Int64](&a, 3, 3)
		if s[0].Add(1)+s[1].Add(1)+s[2].Add(1) != 3 {
			t.Fatal("not zero")
		}
	}
}

func TestNewFrom(t *testing.T) {
	var a bump.Arena
	p := bump.NewFrom(&a, [3]string{"x", "y", "z"})
	q := bump.NewFrom(&a, [3]string{"1", "2", "3"})
	if *p != [3]string{"x", "y", "z"} || *q != [3]string{"1", "2", "3"} || !a.Owns(unsafe.Pointer(p)) {
		t.Errorf("%v %v", *p, *q)
	}
}

func TestMakeSlice(t *testing.T) {
	var a bump.Arena
	for n := range 200 {
		s := bump.MakeSlice[uint32](&a, n/2, n)
		if len(s) != n/2 || cap(s) != n || s == nil {
			t.Fatalf("MakeSlice(%d, %d) has length %d, capacity %d", n/2, n, len(s), cap(s))
		}
		s = s[:n]
		for i := range s {
			if s[i] != 0 {
				t.Fatalf("MakeSlice(%d, %d) is not zero", n/2, n)
			}
			s[i] = ^uint32(0)
		}
	}
	if s := bump.MakeSlice[struct{}](&a, 1<<30, 1<<30); len(s) != 1<<30 {
		t.Error("a slice of empty values has the wrong length")
	}
	big := bump.MakeSlice[uint64](&a, 100_000, 100_000)
	big[99_999] = 1
	if s := a.Stats(); s.InUse < 800_000 {
		t.Errorf("a slice of 800,000 bytes: %v", s)
	}
}

func TestString(t *testing.T) {
	testkit.NeedsPacking(t)
	var a bump.Arena
	if bump.String(&a, "") != "" || bump.String(&a, []byte(nil)) != "" || a.Stats().Reserved != 0 {
		t.Error("an empty string takes memory")
	}
	type text string
	type raw []byte
	var got, want []string
	for n := 1; n < 600; n++ {
		w := strings.Repeat(string(rune('a'+n%26)), n)
		b := raw(w)
		got = append(got, bump.String(&a, w), bump.String(&a, text(w)), bump.String(&a, b))
		want = append(want, w, w, w)
		clear(b)
		if p := unsafe.StringData(got[len(got)-1]); !a.Owns(unsafe.Pointer(p)) {
			t.Fatal("a string is not the arena's")
		}
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("String %d is %q, want %q", i, got[i], want[i])
		}
	}
	// One behind the other, with nothing in between.
	testkit.NeedsReuse(t)
	var b bump.Arena
	s, u := bump.String(&b, "abc"), bump.String(&b, "defgh")
	if all := unsafe.Slice(unsafe.StringData(s), 8); !bytes.Equal(all, []byte("abcdefgh")) || u != "defgh" {
		t.Errorf("two strings make %q", all)
	}
}

func TestOwns(t *testing.T) {
	var a, b bump.Arena
	if a.Owns(nil) || a.Owns(unsafe.Pointer(&a)) || (*bump.Arena)(nil).Owns(unsafe.Pointer(&a)) {
		t.Error("an arena without memory owns something")
	}
	on := 5
	for n := uintptr(1); n < 10_000; n *= 3 {
		p, q := a.Alloc(n, 1), b.Alloc(n, 1)
		if !a.Owns(p) || !a.Owns(unsafe.Add(p, n-1)) || a.Owns(q) || b.Owns(p) {
			t.Fatalf("Owns of an allocation of %d bytes is wrong", n)
		}
	}
	if a.Owns(nil) || a.Owns(unsafe.Pointer(new(int))) || a.Owns(unsafe.Pointer(&on)) || a.Owns(unsafe.Pointer(&a)) {
		t.Error("Owns what is not the arena's")
	}
	for _, e := range bump.Extents(&a) {
		if !a.Owns(e.Data) || !a.Owns(unsafe.Add(e.Data, e.Size-1)) {
			t.Error("does not own a chunk from end to end")
		}
	}
}
