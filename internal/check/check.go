// Package check tells whether this is the check build (-tags haven_check), in
// which allocators verify their own invariants after every change. In the
// default build the constant is false and the verification costs nothing.
package check
