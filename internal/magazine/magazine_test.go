package magazine_test

import (
	"runtime"
	"slices"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// An object is what magazines hold here.
type object struct {
	next *object
	n    int
}

// objects returns n objects.
func objects(n int) []unsafe.Pointer {
	list := make([]unsafe.Pointer, n)
	for i := range list {
		list[i] = unsafe.Pointer(&object{n: i})
	}
	return list
}

// A magazine takes a size class of the heap, and a cell two cache lines.
func TestSizes(t *testing.T) {
	if n := unsafe.Sizeof(magazine.Cell{}); n != 128 {
		t.Errorf("a cell has %d bytes", n)
	}
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the sizes of magazines are chosen for 64 bits")
	}
	if n := unsafe.Sizeof(magazine.Magazine{}); n != 512 {
		t.Errorf("a magazine has %d bytes", n)
	}
	if n := testkit.Taken(func() { runtime.KeepAlive(magazine.New(57)) }); n > 512 {
		t.Errorf("a magazine takes %d bytes of the heap", n)
	}
}

func TestMagazine(t *testing.T) {
	for limit, want := range map[int]int{-5: 1, 0: 1, 1: 1, 2: 2, 56: 56, 57: 57, 58: 57, 1 << 20: 57} {
		if m := magazine.New(limit); m.Limit() != want || m.Len() != 0 || len(m.Objects()) != 0 || m.Take() != nil {
			t.Errorf("New(%d): limit %d, %d objects", limit, m.Limit(), m.Len())
		}
	}
	m := magazine.New(10)
	all := objects(10)
	for i, p := range all {
		m.Add(p)
		if m.Len() != i+1 {
			t.Errorf("%d objects after %d", m.Len(), i+1)
		}
	}
	if !slices.Equal(m.Objects(), all) {
		t.Errorf("holds %v, want %v", m.Objects(), all)
	}
	for i := 9; i >= 7; i-- {
		if p := m.Take(); p != all[i] {
			t.Errorf("took %v, want %v", p, all[i])
		}
	}
	m.Truncate(4)
	if !slices.Equal(m.Objects(), all[:4]) {
		t.Errorf("holds %v, want %v", m.Objects(), all[:4])
	}
	for _, p := range m.Objects()[:10][4:] {
		if p != nil {
			t.Error("refers to what was taken out")
		}
	}
	if pops, pushes := m.Counts(); pops != 0 || pushes != 0 {
		t.Errorf("counted %d pops and %d pushes", pops, pushes)
	}
	m.Count(3, 5)
	m.Count(1, 0)
	if n, pops, pushes := m.Peek(); n != 4 || pops != 4 || pushes != 5 {
		t.Errorf("%d objects, %d pops, %d pushes", n, pops, pushes)
	}
	if pops, pushes := m.Counts(); pops != 4 || pushes != 5 {
		t.Errorf("%d pops, %d pushes", pops, pushes)
	}
	if pops, pushes := m.Counts(); pops != 0 || pushes != 0 {
		t.Errorf("counted %d pops and %d pushes again", pops, pushes)
	}
	m.Empty()
	if m.Len() != 0 {
		t.Errorf("%d objects after Empty", m.Len())
	}
	for _, p := range m.Objects()[:10] {
		if p != nil {
			t.Error("refers to what was there before Empty")
		}
	}
}

// A magazine keeps alive what it holds, and nothing that it held.
func TestMagazineKeeps(t *testing.T) {
	for name, take := range map[string]func(m *magazine.Magazine){
		"Take":     func(m *magazine.Magazine) { m.Take() },
		"Truncate": func(m *magazine.Magazine) { m.Truncate(m.Len() - 1) },
		"Pop": func(m *magazine.Magazine) {
			var s magazine.Set
			onOneP(t)
			c := cell(&s)
			c.Install(m)
			c.Pop()
			c.Install(magazine.New(1))
			c.Install(magazine.New(1))
			c.Leave()
		},
		"PopPrev": func(m *magazine.Magazine) {
			var s magazine.Set
			onOneP(t)
			c := cell(&s)
			c.Install(m)
			c.Install(magazine.New(1))
			c.PopPrev()
			c.Install(magazine.New(1))
			c.Install(magazine.New(1))
			c.Leave()
		},
	} {
		var census testkit.Census
		m := magazine.New(57)
		for range 10 {
			m.Add(unsafe.Pointer(testkit.Enroll(&census, new(object))))
		}
		testkit.CollectGarbage()
		if n := census.Alive(); n != 10 {
			t.Errorf("%s: %d of 10 objects live", name, n)
		}
		take(m)
		testkit.CollectGarbage()
		if n := census.Alive(); n != 9 {
			t.Errorf("%s: %d objects live, want 9", name, n)
		}
		runtime.KeepAlive(m)
	}
}
