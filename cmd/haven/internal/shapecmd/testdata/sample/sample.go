// Package sample has types for the tests of "haven shape".
package sample

import (
	"net/netip"
	"time"
)

// Node has fields in an order that wastes space.
type Node struct {
	leaf  bool
	name  string
	depth int16
	next  *Node
	kind  byte
}

// List needs a type argument.
type List[T any] struct {
	items []T
	last  T
}

type names = map[string]*Node

type number interface{ ~int | ~float64 }

type visit struct {
	from netip.Addr
	at   time.Time
	List[Node]
}

// A body is not looked at, so this package is good enough for its layouts.
func unfinished() int { return undefinedHere }
