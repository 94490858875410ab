package arena

// TrimPool does what a pool does after a garbage collection.
func TrimPool(p *Pool) { p.trim() }
