// Package market is an exchange in memory: for each symbol a book of resting
// orders, matched by price and then by time. Use it to see what a program looks
// like whose long-lived objects are in a slab.Table; do not use it to trade.
//
// All of the matching is written once, over a [Store] that keeps the resting
// orders. There are two. [NewHeap] keeps them as Go programs do: an object for
// each order, linked by pointers, with its text in a string, found in a map.
// [NewHaven] keeps them in a slab.Table, linked by handles, with the text in the
// object, so that there is no pointer in any of them and the garbage collector
// skips them all; and the id of an order is its handle, so that there is no map
// either.
//
// What a batch of instructions needs for itself, its results and its trades, is
// in the arena that the caller gives to Submit; a nil arena is Go's heap. A market
// of NewHaven keeps nothing of the arena. One of NewHeap keeps the references of
// orders as they are, so they must not be in an arena.
package market
