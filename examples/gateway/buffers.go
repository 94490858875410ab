package main

import "sync"

// Buffers are those of the bodies of requests and replies. *pool.Bytes is one.
type buffers interface {
	Get(n int) *[]byte // of n bytes
	Put(*[]byte)
}

// heapBuffers are buffers as Go programs have them, in a sync.Pool.
type heapBuffers struct {
	pool sync.Pool
}

func (h *heapBuffers) Get(n int) *[]byte {
	b, _ := h.pool.Get().(*[]byte)
	if b == nil || cap(*b) < n {
		s := make([]byte, max(n, 4<<10))
		b = &s
	}
	*b = (*b)[:n]
	return b
}

// Put leaves large buffers to the garbage collector, or one large request after
// the other would in the end make all of them large.
func (h *heapBuffers) Put(b *[]byte) {
	if cap(*b) <= 2*maxBody {
		h.pool.Put(b)
	}
}
