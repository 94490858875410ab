package arena

// OnReset registers f to run once, at the next Reset, Free, or Release of a
// Mark made before it; the last one registered runs first, while everything
// allocated is still intact. If one panics the others still run, and the panic
// goes on. f may allocate in a; that goes with the rest. It must not Reset,
// Release or Free a. A callback that f registers runs in the same round. On a
// nil arena, which is never reset, f is dropped. OnReset panics if f is nil,
// and after Free.
func (a *Arena) OnReset(f func()) {
	if f == nil {
		panic("arena: OnReset(nil) of " + a.title())
	}
	if a == nil {
		return
	}
	a.checkUsable("OnReset")
	r := a.makeRare()
	r.callbacks = append(r.callbacks, f)
}

// runCallbacks runs those registered after the first n, last in first out. Each
// is taken off before it runs, so that the rest can be run from a deferred call
// when one panics.
func (a *Arena) runCallbacks(n int, op string) {
	r := a.seldom()
	if r.calling {
		panic("arena: " + op + " inside an OnReset callback of " + a.title())
	}
	if len(r.callbacks) <= n {
		return
	}
	r.calling = true
	defer func() {
		r.calling = false
		if len(r.callbacks) > n { // one panicked
			a.runCallbacks(n, op)
		}
	}()
	for len(r.callbacks) > n {
		k := len(r.callbacks) - 1
		f := r.callbacks[k]
		r.callbacks[k] = nil
		r.callbacks = r.callbacks[:k]
		f()
	}
}
