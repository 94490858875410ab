//go:build !race

package stress_test

const slowdown = 1
