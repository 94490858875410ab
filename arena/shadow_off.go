//go:build !haven_check

package arena

// A shadow is what the check build knows of a lane: here nothing. The methods are
// called by code that this build does not have.
type shadow[T any] struct{}

type arenaShadow struct{}

func (a *Arena) endRelease() {}

func (l *Lane[T]) newChecked() *T                    { return nil }
func (l *Lane[T]) noteSlice(int)                     {}
func (l *Lane[T]) noteLarge([]T)                     {}
func (l *Lane[T]) retireAll() bool                   { return false }
func (l *Lane[T]) retireOpen(lo, hi int)             {}
func (l *Lane[T]) retireLarge([]T)                   {}
func (l *Lane[T]) poisonOpen(p position, lo, hi int) {}
func (l *Lane[T]) endRelease()                       {}
