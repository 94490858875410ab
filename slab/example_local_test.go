package slab_test

import (
	"fmt"

	"github.com/haven-mem/haven/slab"
)

type Particle struct {
	X, Y, Speed float64
	Trail       []float64
}

func ExampleLocal() {
	var l slab.Local[Particle] // the zero Local is ready
	p := l.Alloc()             // zero, like new(Particle)
	p.X, p.Trail = 1, []float64{0.5, 0.7}
	q := l.Alloc()
	l.Free(p) // zero again, and what Trail referred to is let go
	r := l.Alloc()
	fmt.Println(r.X, r.Trail == nil)
	l.Free(r)
	l.Free(q)
	fmt.Println(l.Stats().InUse)
	// Output:
	// 0 true
	// 0
}

func ExampleLocal_Trim() {
	var l slab.Local[[1024]byte]
	var burst []*[1024]byte
	for range 1000 {
		burst = append(burst, l.Alloc())
	}
	for _, p := range burst[1:] {
		l.Free(p)
	}
	freed := l.Trim() // what is in use stays, with its slab
	fmt.Println(freed > 900<<10, l.Stats().Slabs, l.Stats().InUse)
	// Output: true 1 1
}
