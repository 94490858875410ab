// Sessions is the heart of a server that must not fall over: as many sessions at
// a time as it has memory for, each with buffers that are used again. A client
// that comes when all sessions are taken is refused at once; a client with one
// huge message does not leave a huge buffer behind.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A session is what a client has for as long as it is connected.
type session struct {
	client   string
	requests int
	words    map[string]int // costly to make, so it stays with the slot
}

// A server has memory for two sessions, and for a megabyte of idle buffers.
type server struct {
	sessions *slab.Cache[session]
	buffers  *pool.Bytes
}

func newServer() *server {
	return &server{
		sessions: slab.NewCache(slab.Config[session]{
			Name:     "sessions",
			Capacity: 2,
			Init:     func(s *session) { s.words = make(map[string]int) },
			Reset: func(s *session) {
				clear(s.words)
				*s = session{words: s.words}
			},
		}),
		buffers: pool.NewBytes(pool.BytesConfig{Name: "buffers", MaxBytes: 1 << 20}),
	}
}

// connect begins a session, or returns an error that is slab.ErrExhausted.
func (v *server) connect(client string) (*session, error) {
	s, err := v.sessions.TryAlloc()
	if err != nil {
		return nil, err
	}
	s.client = client
	return s, nil
}

// request counts the words of a message.
func (v *server) request(s *session, message string) {
	b := v.buffers.Get(len(message))
	defer v.buffers.Put(b)
	copy(*b, strings.ToLower(message)) // stands for reading from the client
	for _, word := range bytes.Fields(*b) {
		s.words[string(word)]++
	}
	s.requests++
}

// disconnect ends a session. Nothing may refer to it afterwards.
func (v *server) disconnect(s *session) {
	v.sessions.Free(s)
}

func main() {
	v := newServer()
	ada, _ := v.connect("ada")
	bob, _ := v.connect("bob")
	if _, err := v.connect("eve"); errors.Is(err, slab.ErrExhausted) {
		fmt.Println("eve is refused:", v.sessions.Stats().InUse, "sessions are open")
	}

	v.request(ada, "to be or not to be")
	v.request(ada, "To be is to do")
	v.request(bob, strings.Repeat("x", 100<<20)) // too much to keep
	fmt.Println(ada.client, "said be", ada.words["be"], "times in", ada.requests, "requests")

	v.disconnect(ada)
	eve, _ := v.connect("eve")
	fmt.Println(eve.client, "has a map of", len(eve.words), "words")
	fmt.Println("buffers kept:", v.buffers.Stats().Bytes <= 1<<20)
}
