package arena

import (
	"fmt"
	"math"
	"strings"

	"github.com/haven-mem/haven/internal/account"
)

// ErrLimit is what errors.Is finds in every [*LimitError].
var ErrLimit = account.ErrLimit

// A LimitError says that an allocation would have made an arena exceed its
// limit. The arena is as it was before.
type LimitError struct {
	Name      string // of the arena, or the path of the memory context
	Limit     int    // bytes
	Used      int    // bytes reserved at the time
	Requested int    // bytes of the value or slice that did not fit

	// Chain lists the contexts from the arena's own up to the root if a memory
	// context pays for the arena, and is nil otherwise.
	Chain []LimitUse
}

// Error returns a message with all values.
func (e *LimitError) Error() string {
	if e.Chain == nil {
		return fmt.Sprintf("arena: %s reached its limit: %d bytes requested, %d of %d bytes in chunks",
			titleOf(e.Name), e.Requested, e.Used, e.Limit)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "memory context %s reached its limit: %d bytes requested, %d of %d bytes in chunks; asked by",
		e.Name, e.Requested, e.Used, e.Limit)
	for i, u := range e.Chain {
		if i > 0 {
			b.WriteString(", below")
		}
		fmt.Fprintf(&b, " %s with %d", u.Path, u.Used)
		if u.Limit > 0 {
			fmt.Fprintf(&b, " of %d", u.Limit)
		}
		b.WriteString(" bytes")
	}
	return b.String()
}

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// A LimitUse is a memory context on the way of a [LimitError].
type LimitUse struct {
	Path  string
	Used  int // bytes in chunks: of its subtree if it has a limit, else of its own arena
	Limit int // bytes; 0: none
}

// chargeElems charges a chunk of want elements of size bytes, or, if that
// exceeds the limit, one of as many as still fit, but at least least. It returns
// how many.
func (a *Arena) chargeElems(want, least, size int) (int, error) {
	if a == nil || a.grant(want*size) {
		return want, nil
	}
	// It was not granted, so size is not 0. Other arenas of the memory context take
	// what there is, and give back, at any time.
	if want = min(want, a.room()/size); want >= least && a.take(want*size) {
		return want, nil
	}
	if a.take(least * size) {
		return least, nil
	}
	return 0, a.refusal(least * size)
}

// grant is take that lets go of idle chunks if that makes room.
func (a *Arena) grant(bytes int) bool {
	if a.take(bytes) {
		return true
	}
	before := a.reserved
	for l := a.lanes; l != nil; l = l.next {
		l.dropIdle()
	}
	return a.reserved < before && a.take(bytes)
}

// take adds a chunk to what is reserved if there is room.
func (a *Arena) take(bytes int) bool {
	if r := a.rare; r != nil && (r.limit > 0 && bytes > r.limit-a.reserved || r.payer != nil && !r.payer.Charge(bytes, 1)) {
		return false
	}
	a.reserved += bytes
	a.chunks++
	return true
}

// refusal returns the error for a value or slice of requested bytes.
func (a *Arena) refusal(requested int) error {
	r := a.seldom()
	if r.limit > 0 && requested > r.limit-a.reserved || r.payer == nil {
		return &LimitError{Name: a.name, Limit: r.limit, Used: a.reserved, Requested: requested}
	}
	return r.payer.Refusal(requested)
}

// credit takes back the charges of so many chunks.
func (a *Arena) credit(bytes, chunks int) {
	if a == nil {
		return
	}
	a.reserved -= bytes
	a.chunks -= int32(chunks)
	if p := a.seldom().payer; p != nil && chunks > 0 {
		p.Credit(bytes, chunks)
	}
}

// room returns the bytes left under the limits.
func (a *Arena) room() int {
	r, room := a.seldom(), math.MaxInt
	if r.limit > 0 {
		room = r.limit - a.reserved
	}
	if r.payer != nil {
		room = min(room, r.payer.Room())
	}
	return room
}
