//go:build !haven_check

package check

func releasedAround(address uintptr) (history, bool) { return history{}, false }
