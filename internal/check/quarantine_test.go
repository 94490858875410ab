//go:build haven_check

package check

import (
	"slices"
	"testing"
)

// Of several reports each is told, also if whoever is told of them panics.
func TestRaiseAll(t *testing.T) {
	var told []string
	Handle(func(r *Report) {
		told = append(told, r.What)
		panic(r)
	})
	defer Handle(nil)
	func() {
		defer func() { _ = recover() }()
		RaiseAll([]*Report{{What: "first"}, {What: "second"}, {What: "third"}})
	}()
	if want := []string{"first", "second", "third"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}
