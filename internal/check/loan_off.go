//go:build !haven_check

package check

import "unsafe"

// Idle is what the check build knows of what was put into a pool: here nothing. Its
// methods, and those of a Loan, are called by code that this build does not have.
type Idle struct{}

func (l Loan) Got(header unsafe.Pointer) {}
func (l Loan) Check() *Report            { return nil }

func Dropped(r *Released) {}

func (q *Idle) Put(l Loan, header unsafe.Pointer) (*Released, *Report) { return nil, nil }
func (q *Idle) Wait(x Waiter)                                          {}
func (q *Idle) Leave(all bool, objects, bytes int) *Report             { return nil }
func (q *Idle) Waiting() (objects, bytes int)                          { return 0, 0 }
