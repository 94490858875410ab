package check

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/internal/stale"
)

// A Finding is one or more findings of one kind and place: a context or an arena that
// leaks, or memory to which something still points after its release. Its String has
// the finding in a line, and the stacks in the lines after it.
type Finding = leak.Finding

// TestingT is what [VerifyNone] and [VerifyNoStale] need of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// Leaks returns what the leak finder found since the program's start, what was found
// most often first: contexts, and arenas with a name, that the program dropped without
// ending them ("dropped"), contexts that are larger at each of many resets ("grows"),
// and contexts that live longer than their MaxAge ("old"). A program that drops its
// contexts and arenas is not wrong, only slower: their memory goes to the garbage
// collector. It costs a step for each context there is if one was ever given a MaxAge.
// It may be called from any goroutine.
func Leaks() []Finding {
	if leak.Contexts.Age != nil {
		leak.Contexts.Age()
	}
	return findings(func(f *Finding) bool { return f.Kind != leak.Stale })
}

func findings(wanted func(*Finding) bool) []Finding {
	return slices.DeleteFunc(leak.All(), func(f Finding) bool { return !wanted(&f) })
}

// SampleStacks has one in so many contexts and arenas note where it was made,
// for the leak finder and [VerifyNone]: 1 means all, 0 none, and 128 is the
// default. The first four contexts of each name do, too, unless none shall. A stack costs about a microsecond and 300 bytes. Arenas, other than
// contexts, are watched for being dropped only if they are sampled. It panics if
// every is negative.
func SampleStacks(every int) {
	if every < 0 {
		panic(fmt.Sprintf("check: SampleStacks(%d): want 1 for all, 0 for none, or one in how many", every))
	}
	leak.SampleEvery(uint32(min(uint64(every), math.MaxUint32)))
}

// VerifyNone fails a test if there are contexts that were neither deleted nor
// abandoned, or that a lease still holds, with a list of them, their bytes and,
// where sampled, the place where they were made: call [SampleStacks](1) first to
// have all. It fails as well for stale pointers to memory that was released since
// the last call, or the program's start, and was watched: call [VerifyNoStale] at the
// beginning of a test to have all watched. If such memory waits for it, VerifyNone
// collects garbage twice. Call it at the end of a test, or of TestMain, when what the test
// started has come to its end. It sees the whole process, so it is not for tests that
// run in parallel with others.
//
// The idea is go.uber.org/goleak's.
func VerifyNone(t TestingT) {
	t.Helper()
	if leak.Contexts.Open != nil {
		if text := leak.Contexts.Open(); text != "" {
			t.Errorf("haven: %s", text)
		}
	}
	list, last := stale.Since(verified.Load())
	verified.Store(last)
	if len(list) > 0 {
		t.Errorf("haven: %s", stale.List(list))
	}
}

// verified is the number of the last release that a VerifyNone has seen to.
var verified atomic.Uint64
