//go:build haven_check

package check

// Enabled is true in the check build.
const Enabled = true
