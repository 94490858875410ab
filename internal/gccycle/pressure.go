package gccycle

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
)

// Pressure tells whether memory is short: true says that the process is near
// its memory limit, so that what is kept for later is better given back.
type Pressure bool

// Near reports whether the memory of the process is within a tenth of its limit
// ([debug.SetMemoryLimit], GOMEMLIMIT), or above it. Without a limit it is
// false. Memory is what the limit counts: all that the runtime has from the
// system and has not given back. It costs a lock of the heap's for a moment
// and, where there is a limit, about a microsecond.
//
// A program that the limit holds back stays near it: the runtime itself returns
// memory to the system only from 95 % of the limit on.
func Near() Pressure {
	limit := debug.SetMemoryLimit(-1) // a negative number asks only
	if limit == math.MaxInt64 {
		return false
	}
	m := [...]metrics.Sample{
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(m[:])
	used := m[0].Value.Uint64() - m[1].Value.Uint64()
	return Pressure(used > uint64(limit-limit/10))
}
