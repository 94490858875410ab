package memctx

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/escape"
)

// TestingT is what [VerifyNone] needs of a *testing.T.
type TestingT interface {
	Helper()
	Errorf(format string, args ...any)
}

// VerifyNone fails a test if there are contexts that were neither deleted nor
// abandoned, or that a lease still holds, with a list of them, their bytes and,
// where sampled, the place where they were made: call [SampleStacks](1) first to
// have all. It fails as well if memory is still referred to that was released since
// the last call, or the program's start, and was watched: call
// [arena.VerifyNoEscapes] at the beginning of a test to have all watched. If
// such memory waits for it, VerifyNone collects garbage twice. Call it at the end of a test, or of TestMain, when what the test
// started has come to its end. It sees the contexts of the whole process, so it
// is not for tests that run in parallel with others that have some.
//
// The idea is go.uber.org/goleak's.
func VerifyNone(t TestingT) {
	t.Helper()
	verifyContexts(t)
	list, last := escape.Since(verified.Load())
	verified.Store(last)
	if len(list) > 0 {
		t.Errorf("memctx: %s", escape.List(list))
	}
}

// verified is the number of the last release that a VerifyNone has seen to.
var verified atomic.Uint64

func verifyContexts(t TestingT) {
	t.Helper()
	all := takeCensus(nil)
	if len(all.entries) == 0 {
		return
	}
	const most = 20
	var b strings.Builder
	for i, r := range all.rows(most + 1) {
		if i == most {
			fmt.Fprintf(&b, "\n… and %d more", len(all.entries)-most)
			break
		}
		fmt.Fprintf(&b, "\n%v", r.Stats)
	}
	for i := range all.entries {
		if e := &all.entries[i]; e.c.site != nil {
			fmt.Fprintf(&b, "\n%s was made at\n%s", e.c.Path(), e.c.site.Stack())
			if i >= most {
				break
			}
		}
	}
	t.Errorf("memctx: %d contexts are still open:%s", len(all.entries), b.String())
}
