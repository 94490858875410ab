package check

import "unsafe"

// A Held is an object that was freed and has waited long enough in [Objects]. Whoever
// takes it out clears it, and calls Restore if there is one.
type Held struct {
	P       unsafe.Pointer
	Restore func() // puts back what the object held
}
