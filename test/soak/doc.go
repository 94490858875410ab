// Package soak has TestSoak: actors do to trees of memory contexts whatever is
// allowed, for as long as one likes, each beside a model of its tree. It has tests
// only.
//
// The test takes two seconds; -seed=2 has the actors make other choices than -seed=1:
//
//	go test ./test/soak -duration=10m
//	go test -race ./test/soak -duration=60s -seed=2
package soak
