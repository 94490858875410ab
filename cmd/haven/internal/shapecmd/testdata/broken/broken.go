// Package broken does not type-check.
package broken

type Bad struct{ x missing }
