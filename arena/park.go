package arena

// park is for an arena that was Reset and lies in a Pool from now on, where allocating
// panics. It hides the table, which is all that most users have. Lanes that somebody has
// without it come to rest, and ask the arena before they open.
func (a *Arena) park() {
	if a.lent || a.seldom().dyn != nil {
		for l := a.listed; l != nil; l = l.nextListed {
			l.rest()
		}
	}
	a.near, a.table, a.bytes = nil, a.table[:0], nil
	a.state = parked
}

// unpark is for an arena that leaves its Pool.
func (a *Arena) unpark() {
	a.state = usable
	a.table = a.table[:cap(a.table)]
	if a.most != nil {
		a.near = a.most.front
	}
}
