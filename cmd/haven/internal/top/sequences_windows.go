package top

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// enableSequences makes a console obey escape sequences.
func enableSequences(out *os.File) (restore func(), err error) {
	console := windows.Handle(out.Fd())
	var before uint32
	if err := windows.GetConsoleMode(console, &before); err != nil {
		return nil, fmt.Errorf("the console cannot be asked for its mode: %w", err)
	}
	if err := windows.SetConsoleMode(console, before|windows.ENABLE_PROCESSED_OUTPUT|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING); err != nil {
		return nil, fmt.Errorf("the console knows no escape sequences: %w; use -once", err)
	}
	return func() { windows.SetConsoleMode(console, before) }, nil
}
