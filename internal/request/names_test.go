package request_test

import (
	"fmt"
	"testing"

	"github.com/haven-mem/haven/internal/request"
)

// TestNames checks that a server tells some names apart, and no more, whoever makes them up.
func TestNames(t *testing.T) {
	var names request.Names
	for range 2 {
		for i := range 1000 {
			name, want := fmt.Sprint("name ", i), "other"
			if i < 256 {
				want = name
			}
			if got := names.Of(name, "other"); got != want {
				t.Fatalf("%s is %s, want %s", name, got, want)
			}
		}
		if got := names.Of("", "other"); got != "other" {
			t.Errorf("no name is %q", got)
		}
	}
}
