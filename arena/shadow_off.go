//go:build !haven_check

package arena

// A shadow is what the check build knows of a lane: here nothing. The methods are
// called by code that this build does not have.
type shadow struct{}

type arenaShadow struct{}

func (a *Arena) endRelease() {}

func (l *lane) noteNew(from, to int)              {}
func (l *lane) noteLarge(block)                   {}
func (l *lane) retireAll() bool                   { return false }
func (l *lane) retireOpen()                       {}
func (l *lane) retireLarge(block)                 {}
func (l *lane) poisonOpen(p position, lo, hi int) {}
func (l *lane) endRelease()                       {}
