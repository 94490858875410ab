//go:build msan && cgo && !haven_check

package sanitize

const (
	Address = false // built with -asan
	Memory  = true  // built with -msan
	Race    = false // built with -race
)
