package scope

// Sightings returns how many contexts s remembers.
func (s *Scope[T]) Sightings() int {
	n := 0
	for x := s.seen.Load(); x != nil; x = x.next {
		n++
	}
	return n
}
