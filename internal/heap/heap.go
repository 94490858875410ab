// Package heap tells memory of Go's heap from other memory: global variables, pages that
// a program got from the system, memory of C. A weak pointer to such memory ends the
// program, so whoever is handed a pointer asks here before making one.
package heap

import "runtime"

// Has reports whether p points to an object of Go's heap, or into one. For an object
// without size, which is none, it is false. It costs some hundred nanoseconds for an
// object, and about a microsecond for memory of the system.
func Has(p *byte) (ok bool) {
	defer func() {
		if recover() != nil { // GC.md fact 22
			ok = false
		}
	}()
	c := runtime.AddCleanup(p, func(struct{}) {}, struct{}{})
	c.Stop()
	return c != runtime.Cleanup{}
}
