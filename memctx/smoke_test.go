package memctx_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/memctx"
)

func TestSmoke(t *testing.T) {
	s := memctx.New("server")
	c := s.Child("conn", memctx.Ident("17"), memctx.Limit(1<<20))
	r := c.Child("request", memctx.Limit(100000))
	p := arena.New[[100]int](r.Arena())
	p[0] = 1
	_, err := arena.TryMakeSlice[byte](r.Arena(), 200000, 200000)
	fmt.Println(err)
	if !errors.Is(err, arena.ErrLimit) {
		t.Error(err)
	}
	var order []string
	for _, x := range []*memctx.Context{s, c, r} {
		x.OnReset(func() { order = append(order, x.Name()+"1") })
		x.OnReset(func() { order = append(order, x.Name()+"2") })
	}
	memctx.WriteReport(os.Stdout, memctx.ReportOptions{})
	memctx.VerifyNone(fakeT{})
	s.Delete()
	fmt.Println(order)
	memctx.VerifyNone(t)
	memctx.WriteReport(os.Stdout, memctx.ReportOptions{JSON: true})
	func() {
		defer func() { fmt.Println(recover()) }()
		r.Arena()
	}()
	root := memctx.New("deep")
	x := root
	for range 100000 {
		x = x.Child("level")
		arena.New[int](x.Arena())
	}
	fmt.Println(root.Stats(), x.Path())
	root.Delete()
	root = memctx.New("wide")
	for range 1000000 {
		root.Child("leaf")
	}
	fmt.Println(root.Stats())
	root.Delete()
}

type fakeT struct{}

func (fakeT) Helper()                   {}
func (fakeT) Errorf(f string, a ...any) { fmt.Printf(f+"\n", a...) }

func BenchmarkRequest(b *testing.B) {
	s := memctx.New("server")
	b.ReportAllocs()
	for b.Loop() {
		r := s.Child("request")
		r.Delete()
	}
}
func BenchmarkRequestArena(b *testing.B) {
	s := memctx.New("server")
	b.ReportAllocs()
	for b.Loop() {
		r := s.Child("request")
		arena.New[int](r.Arena())
		r.Delete()
	}
}
func BenchmarkRequestLimits(b *testing.B) {
	s := memctx.New("server", memctx.Limit(1<<30))
	b.ReportAllocs()
	for b.Loop() {
		r := s.Child("request", memctx.Limit(1<<20))
		arena.New[int](r.Arena())
		r.Delete()
	}
}
