//go:build asan && cgo && !haven_check

package sanitize

const (
	Address = true  // built with -asan
	Memory  = false // built with -msan
	Race    = false // built with -race
)
