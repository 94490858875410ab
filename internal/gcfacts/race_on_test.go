//go:build race

package gcfacts_test

const raceEnabled = true
