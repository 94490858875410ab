// Package config is how constructors take a struct of settings as an optional last
// argument.
package config

import (
	"fmt"
	"time"
)

// Optional returns the struct that a constructor was given, or a zero one. It panics if
// there are several.
func Optional[C any](pkg, constructor string, given []C) (c C) {
	switch n := len(given); {
	case n > 1:
		panic(fmt.Sprintf("%s: %s: %d structs of settings: want one, or none", pkg, constructor, n))
	case n == 1:
		c = given[0]
	}
	return c
}

// AtLeast panics if a field is below the least that it may be. The panic says what is
// wanted.
func AtLeast[N int | time.Duration](field string, n, least N, want string) {
	if n < least {
		refuse(field, n, want)
	}
}

// AtMost panics if a field is above the most that it may be.
func AtMost[N ~uint8](field string, n, most N, want string) {
	if n > most {
		refuse(field, n, want)
	}
}

func refuse(field string, value any, want string) {
	panic(fmt.Sprintf("%s is %v: want %s", field, value, want))
}
