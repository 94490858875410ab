//go:build !linux

package load

import "time"

// A pacer waits for points in time.
type pacer struct{}

func newPacer() pacer { return pacer{} }

func (pacer) close() {}

// wait returns at t, or soon after.
func (pacer) wait(t time.Time) { time.Sleep(time.Until(t)) }
