package bump

import (
	"fmt"

	"github.com/haven-mem/haven/internal/account"
)

// ErrLimit is what errors.Is finds in every [*LimitError]. It is the ErrLimit of package
// arena, too: at the limit of a memory context, the error of its [Arena] is an
// *arena.LimitError.
var ErrLimit = account.ErrLimit

// A LimitError says that an allocation would have made an arena exceed its Config.Limit. What
// was allocated is as it was before.
type LimitError struct {
	Name      string // of the arena
	Limit     int    // bytes
	Used      int    // bytes reserved at the time
	Requested int    // bytes that did not fit
}

// Error returns a message with all values.
func (e *LimitError) Error() string {
	return fmt.Sprintf("bump: %s reached its limit: %d bytes requested, %d of %d bytes in chunks",
		titleOf(e.Name), e.Requested, e.Used, e.Limit)
}

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// titleOf names an arena of the given name in messages.
func titleOf(name string) string {
	if name == "" {
		return "a bump arena"
	}
	return fmt.Sprintf("bump arena %q", name)
}

// charge has a chunk for want bytes paid, or, if the limits have no room for that, one
// for the bytes that are needed at least. It returns the size of the chunk.
func (a *Arena) charge(want, need, requested uintptr) (total uintptr, err error) {
	for _, n := range [...]uintptr{want, need} {
		if total = chunkSize(n + overhead); a.pays(int(total)) {
			a.reserved += int(total)
			a.chunks++
			return total, nil
		}
	}
	if a.payer != nil && !a.exceeds(int(total)) {
		return 0, a.payer.Refusal(int(requested))
	}
	return 0, &LimitError{Name: a.name, Limit: a.limit, Used: a.reserved, Requested: int(requested)}
}

// pays reports whether there is room for more bytes under the limits, and takes it.
func (a *Arena) pays(bytes int) bool {
	return !a.exceeds(bytes) && (a.payer == nil || a.payer.Charge(bytes, 1))
}

// exceeds reports whether more bytes are beyond the arena's own limit.
func (a *Arena) exceeds(bytes int) bool { return a.limit > 0 && bytes > a.limit-a.reserved }

// credit takes back what the chunks were charged, which the arena lets go of.
func (a *Arena) credit() {
	if a.payer != nil && a.chunks > 0 {
		a.payer.Credit(a.reserved, a.chunks)
	}
	a.reserved, a.chunks = 0, 0
}
