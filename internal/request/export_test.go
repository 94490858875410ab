package request

// Collecting reports whether a collection is under way that was started here.
func Collecting() bool { return collecting.Load() }
