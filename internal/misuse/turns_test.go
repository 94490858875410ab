package misuse_test

import "runtime"

// Turns let two goroutines go one after the other without synchronising: the race
// detector does not see the variable. So what it sees does not depend on luck.
type turns struct {
	now  int
	done chan bool
}

// last is the turn after all others.
const last = 100

func newTurns() *turns { return &turns{done: make(chan bool)} }

//go:norace
//go:noinline
func (s *turns) turn(n int) { s.now = n }

//go:norace
//go:noinline
func (s *turns) is(n int) bool { return s.now == n }

func (s *turns) await(n int) {
	for !s.is(n) {
		runtime.Gosched()
	}
}

// other runs f in another goroutine when it is turn n, and then makes it turn next. The
// goroutine is there until join: of one that has ended, the race detector may have
// forgotten what it did.
func (s *turns) other(n int, f func(), next int) {
	go func() {
		defer close(s.done)
		s.await(n)
		guarded(f)
		s.turn(next)
		s.await(last)
	}()
}

// join waits for the other goroutine, and synchronises.
func (s *turns) join() {
	s.turn(last)
	<-s.done
}
