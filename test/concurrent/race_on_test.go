//go:build race

package concurrent_test

// slowdown divides what the tests do without a limit of time, since the race
// detector makes it take several times as long.
const slowdown = 4
