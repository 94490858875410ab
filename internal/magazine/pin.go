//go:build gc && go1.24 && !go1.28 && !haven_nolinkname

package magazine

import _ "unsafe" // for go:linkname

// procPin keeps the calling goroutine on its P, without preemption, and returns
// the number of that P, which is below GOMAXPROCS. It is one of the functions
// that Go keeps linkable for packages outside of its library.
//
//go:linkname procPin runtime.procPin
func procPin() int

// procUnpin ends what procPin began.
//
//go:linkname procUnpin runtime.procUnpin
func procUnpin()
