//go:build race

package memhttp_test

const raceEnabled = true
