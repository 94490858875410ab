package testkit

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"
)

// A field is one of a protocol buffer: a number or bytes.
type field struct {
	n   uint64 // the field's
	num uint64
	b   []byte
}

// fields takes a message apart. It knows the two kinds of fields that there are.
func fields(t testing.TB, b []byte) (list []field) {
	t.Helper()
	next := func() uint64 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("no number at % x", b)
		}
		b = b[n:]
		return x
	}
	for len(b) > 0 {
		tag := next()
		f := field{n: tag >> 3}
		switch tag & 7 {
		case 0:
			f.num = next()
		case 2:
			n := next()
			if n > uint64(len(b)) {
				t.Fatalf("field %d has %d bytes of %d", f.n, n, len(b))
			}
			f.b, b = b[:n], b[n:]
		default:
			t.Fatalf("field %d is of kind %d", f.n, tag&7)
		}
		list = append(list, f)
	}
	return list
}

// numbers takes a packed list apart.
func numbers(t testing.TB, b []byte) (list []uint64) {
	for len(b) > 0 {
		x, n := binary.Uvarint(b)
		if n <= 0 {
			t.Fatalf("no number at % x", b)
		}
		list, b = append(list, x), b[n:]
	}
	return list
}

// ReadProfile returns a profile of package internal/profile as lines: what the
// head says, and the samples, each with its frames, the innermost first, and its
// values: "request<conn<server [1 3 4096]". Frames are looked up as a viewer does,
// and the test fails if the tables are not as the format wants them, or have
// anything that this package does not write.
func ReadProfile(t testing.TB, compressed []byte) (lines []string) {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	top := fields(t, raw)
	var table []string
	for _, f := range top {
		if f.n == 6 {
			table = append(table, string(f.b))
		}
	}
	if len(table) == 0 || table[0] != "" {
		t.Fatalf("the table of strings is %q, want it to begin with an empty one", table)
	}
	seen := map[string]bool{}
	for _, s := range table {
		if seen[s] {
			t.Errorf("%q is twice in the table of strings", s)
		}
		seen[s] = true
	}
	functions, locations := map[uint64]string{}, map[uint64]string{}
	number := func(b []byte, n uint64) (x uint64) {
		for _, f := range fields(t, b) {
			if f.n == n {
				x = f.num
			}
		}
		return x
	}
	for _, f := range top {
		if f.n != 5 {
			continue
		}
		id := number(f.b, 1)
		if _, twice := functions[id]; twice || id == 0 {
			t.Errorf("function %d is 0 or there twice", id)
		}
		functions[id] = table[number(f.b, 2)]
		if system := number(f.b, 3); system != 0 {
			t.Errorf("function %q has the system name %q", functions[id], table[system])
		}
	}
	for _, f := range top {
		if f.n != 4 {
			continue
		}
		id := number(f.b, 1)
		if _, twice := locations[id]; twice || id == 0 {
			t.Errorf("location %d is 0 or there twice", id)
		}
		if m := number(f.b, 2); m != 1 {
			t.Errorf("location %d is of mapping %d", id, m)
		}
		for _, l := range fields(t, f.b) {
			if l.n == 4 {
				name, ok := functions[number(l.b, 1)]
				if !ok {
					t.Errorf("location %d has no function", id)
				}
				locations[id] = name
			}
		}
	}
	for _, f := range top {
		switch f.n {
		case 1:
			lines = append(lines, "type "+table[number(f.b, 1)]+" "+table[number(f.b, 2)])
		case 2:
			var stack []string
			var values []int64
			for _, s := range fields(t, f.b) {
				for _, x := range numbers(t, s.b) {
					switch s.n {
					case 1:
						name, ok := locations[x]
						if !ok {
							t.Errorf("no location %d", x)
						}
						stack = append(stack, name)
					case 2:
						values = append(values, int64(x))
					default:
						t.Errorf("a sample has a field %d", s.n)
					}
				}
			}
			lines = append(lines, fmt.Sprintf("%s %d", strings.Join(stack, "<"), values))
		case 3:
			lines = append(lines, fmt.Sprintf("mapping %d %s %d%d%d%d", number(f.b, 1), table[number(f.b, 5)],
				number(f.b, 7), number(f.b, 8), number(f.b, 9), number(f.b, 10)))
		case 9:
			lines = append(lines, fmt.Sprint("time ", f.num))
		case 14:
			lines = append(lines, "default "+table[f.num])
		case 4, 5, 6:
		default:
			t.Errorf("field %d", f.n)
		}
	}
	return lines
}
