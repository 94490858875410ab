//go:build haven_check

package check_test

import (
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// Pointers to memory of the system's in untyped memory are right, and of no interest.
func TestOutsidePointersForeign(t *testing.T) {
	mapped := testkit.Mapped(t, 1<<16)
	var a bump.Arena
	for i := range 500 {
		p := bump.New[*[64]byte](&a)
		*p = (*[64]byte)(mapped[i*64:])
		if i%100 == 0 {
			runtime.GC()
			if err := check.Verify(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := check.Verify(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(&a)
}

// A second Put of an object that is none of Go's heap is found as any is.
func TestForeignSecondPut(t *testing.T) {
	mapped := testkit.Mapped(t, 1<<12)
	defer stale.All()()
	p := pool.New(func() *[64]byte {
		return (*[64]byte)(unsafe.Pointer(&mapped[1<<10]))
	})
	x := p.Get()
	p.Put(x)
	defer func() {
		if v := recover(); v == nil || !strings.Contains(v.(error).Error(), "second put") {
			t.Errorf("the second Put: %v", v)
		}
	}()
	p.Put(x)
}
