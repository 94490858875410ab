package arena

import (
	"errors"
	"fmt"
)

// ErrLimit is what errors.Is finds in every [*LimitError].
var ErrLimit = errors.New("arena: limit reached")

// A LimitError says that an allocation would have made an arena exceed its
// limit. The arena is as it was before.
type LimitError struct {
	Name      string // of the arena
	Limit     int    // bytes
	Used      int    // bytes reserved at the time
	Requested int    // bytes of the value or slice that did not fit
}

// Error returns a message with all four values.
func (e *LimitError) Error() string {
	return fmt.Sprintf("arena: %s reached its limit: %d bytes requested, %d of %d bytes in chunks",
		titleOf(e.Name), e.Requested, e.Used, e.Limit)
}

// Is reports whether target is [ErrLimit].
func (e *LimitError) Is(target error) bool { return target == ErrLimit }

// charge adds bytes to what is reserved, or returns an error that names
// requested if that would exceed the limit even with idle chunks let go.
func (a *Arena) charge(bytes, requested int) error {
	if a == nil {
		return nil
	}
	if a.limit > 0 && bytes > a.limit-a.reserved {
		for _, l := range a.lanes {
			l.dropIdle()
		}
		if bytes > a.limit-a.reserved {
			return &LimitError{Name: a.name, Limit: a.limit, Used: a.reserved, Requested: requested}
		}
	}
	a.reserved += bytes
	return nil
}

// chargeElems charges a chunk of want elements of size bytes, or, if that
// exceeds the limit, one of as many as still fit, but at least least. It returns
// how many.
func (a *Arena) chargeElems(want, least, size int) (int, error) {
	err := a.charge(want*size, least*size)
	if err == nil {
		return want, nil
	}
	want = a.room() / size // there was an error, so size is not 0
	if want < least {
		return 0, err
	}
	return want, a.charge(want*size, least*size)
}

// credit takes back a charge.
func (a *Arena) credit(bytes int) {
	if a != nil {
		a.reserved -= bytes
	}
}

// room returns the bytes left under the limit.
func (a *Arena) room() int { return a.limit - a.reserved }
