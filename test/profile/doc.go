// Package profile reads the profiles of memory contexts with the library that go tool
// pprof reads them with. It has tests only.
package profile
