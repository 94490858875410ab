// Package config is how constructors take a struct of settings as an optional last
// argument.
package config

import (
	"fmt"
	"time"
)

// Optional returns the struct that a constructor was given, or a zero one. It panics if
// there are several.
func Optional[C any](constructor string, given []C) (c C) {
	One(constructor, len(given))
	if len(given) > 0 {
		c = given[0]
	}
	return c
}

// One panics unless a constructor was given n structs at most, which is one.
func One(constructor string, n int) {
	if n > 1 {
		panic(fmt.Sprintf("%s: %d structs of settings: want one, or none", constructor, n))
	}
}

// AtLeast panics if a field is below the least that it may be. The panic says what is
// wanted.
func AtLeast[N int | time.Duration](field string, n, least N, want string) {
	if n < least {
		refuse(field, n, want)
	}
}

func refuse(field string, value any, want string) {
	panic(fmt.Sprintf("%s is %v: want %s", field, value, want))
}
