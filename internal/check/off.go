//go:build !haven_check

package check

// Enabled is false in the default build: whatever it guards is compiled out.
const Enabled = false
