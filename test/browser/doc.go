// Package browser tests the debug page in a real browser. It has tests only.
//
// They want Chromium or Chrome, and are skipped where there is none. To keep the
// screenshots:
//
//	go test ./test/browser -run TestScreenshots -screenshots /tmp/haven
package browser
