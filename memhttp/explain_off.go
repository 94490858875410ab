//go:build !haven_check

package memhttp

import "net/http"

// A watched is what an exchange has for the check build: here nothing.
type watched struct{}

func (x *watched) watch(r *http.Request) {}
func (x *watched) unwatch()              {}
func (x *watched) explain(v any)         {}
