package top

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// printed prints the first reading, and with -interval one after another. A
// program that stops answering is waited for, as the screen does; what is wrong
// is said once on stderr.
func printed(ctx context.Context, o options, source *source, first *reading, stdout, stderr io.Writer) error {
	st := newState(o)
	print := func(r *reading) error {
		text := ""
		if o.json {
			line, err := oneLine(r.json)
			if err != nil {
				return err
			}
			text = line + "\n"
		} else {
			st.last = r
			text = page(st, widthOf(stdout))
			if r != first {
				text = "\n" + text
			}
		}
		_, err := io.WriteString(stdout, text)
		return err
	}
	if err := print(first); err != nil || !o.repeat {
		return err
	}
	tick := time.NewTicker(o.interval)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		r, err := source.read(ctx)
		switch {
		case errors.Is(err, context.Canceled):
			return nil
		case err != nil:
			if message := err.Error(); message != said {
				complain(stderr, err)
				said = message
			}
			continue
		}
		said = ""
		if err := print(r); err != nil {
			return err
		}
	}
}

// oneLine returns JSON without line breaks, and with escapes for the characters
// that a terminal would act upon: they are in strings, for nothing outside them is
// beyond ASCII.
func oneLine(text []byte) (string, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return "", err
	}
	if shown(compact.String()) {
		return compact.String(), nil
	}
	var b strings.Builder
	for _, r := range compact.String() {
		switch {
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String(), nil
}
