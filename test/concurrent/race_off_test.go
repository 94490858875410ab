//go:build !race

package concurrent_test

const slowdown = 1
