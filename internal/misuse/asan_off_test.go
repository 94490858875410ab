//go:build !asan

package misuse_test

const asan = false
