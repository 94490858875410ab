// Package e2e tests Haven from outside: the debug page in a real browser, and
// profiles with the library that go tool pprof reads them with. It has tests
// only.
//
// The tests of the page want Chromium or Chrome, and are skipped where there is
// none. To keep the screenshots:
//
//	go test ./e2e -run TestScreenshots -screenshots /tmp/haven
package e2e
