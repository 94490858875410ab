//go:build !haven_check || race

package check

// A Busy finds that two goroutines use at once what is for one at a time: here it
// finds nothing.
type Busy struct{}

func (b *Busy) Enter(site Site, owner func() string) {}
func (b *Busy) Original(owner func() string)         {}
func (b *Busy) Exit()                                {}
