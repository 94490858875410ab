package concurrent_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anishathalye/porcupine"
)

// What is the model of a cache with a capacity? An allocation takes a place of
// the capacity, and then an object. These are two steps: while one goroutine is
// between them, another may be told that all places are taken, and free the
// object that the first will get. No single moment can then stand for the whole
// allocation, and nobody needs one. So a cache is modelled as what it consists
// of: places, and objects. Each is a semaphore, the places one of as many as the
// capacity and each object one of 1, and the history of each must be
// linearizable by itself:
//
//   - An object is taken only while nobody has it, and given back only by
//     somebody who has it.
//   - A place is taken only while one is left, and refused only while none is.
//     The refusal must be right at some moment of the call.

// A target is what histories have objects of. It has a pointer, so that the
// garbage collector has to look into its slabs.
type target struct {
	next *target
	n    int
}

// An event is one operation of a history. Calls and returns have numbers from a
// clock that never shows the same one twice.
type event struct {
	client    int
	free      bool
	obj       *target // nil: an allocation was refused
	call, ret int64
}

// A step is what one semaphore sees of an operation.
type step struct {
	give bool // or take
	ok   bool
}

// semaphore is the model of one that n may have at a time. Its state is how many
// have it.
func semaphore(n int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return 0 },
		Step: func(state, input, _ any) (bool, any) {
			have := state.(int)
			switch s := input.(step); {
			case s.give:
				return have > 0, have - 1
			case s.ok:
				return have < n, have + 1
			default:
				return have == n, have
			}
		},
	}
}

// linearizable checks a history that begins with nothing allocated. A capacity
// of 0 stands for none.
func linearizable(events []event, capacity int) error {
	operation := func(e event) porcupine.Operation {
		return porcupine.Operation{ClientId: e.client, Input: step{e.free, e.obj != nil}, Call: e.call, Return: e.ret}
	}
	var places []porcupine.Operation
	objects := map[*target][]porcupine.Operation{}
	for _, e := range events {
		places = append(places, operation(e))
		if e.obj != nil {
			objects[e.obj] = append(objects[e.obj], operation(e))
		}
	}
	for obj, ops := range objects {
		if !porcupine.CheckOperations(semaphore(1), ops) {
			return fmt.Errorf("no order of the operations gives object %p to one client at a time:\n%s", obj, describe(events))
		}
	}
	if capacity == 0 {
		capacity = len(events) + 1
	}
	if !porcupine.CheckOperations(semaphore(capacity), places) {
		return fmt.Errorf("no order of the operations keeps the capacity of %d exactly:\n%s", capacity, describe(events))
	}
	return nil
}

// describe lists a history in the order of the calls. Objects have numbers.
func describe(events []event) string {
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	numbers := map[*target]int{}
	var b strings.Builder
	for _, e := range events {
		what := "alloc refused"
		if e.obj != nil {
			n, known := numbers[e.obj]
			if !known {
				n = len(numbers)
				numbers[e.obj] = n
			}
			what = fmt.Sprintf("alloc -> %d (%p)", n, e.obj)
			if e.free {
				what = fmt.Sprintf("free %d (%p)", n, e.obj)
			}
		}
		fmt.Fprintf(&b, "%5d to %5d  client %d  %s\n", e.call, e.ret, e.client, what)
	}
	return b.String()
}

// overlapping counts the operations that began while one of another client was
// under way.
func overlapping(events []event) int {
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b event) int { return cmp.Compare(a.call, b.call) })
	n, last := 0, int64(0)
	for _, e := range events {
		if e.call < last {
			n++
		}
		last = max(last, e.ret)
	}
	return n
}
