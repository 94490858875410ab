package memhttp

import (
	"net/http"

	"github.com/haven-mem/haven/internal/addr"
)

// The strings of a header, its keys among them, may lie in the request's memory, and
// so may the slices of its values. net/http reads them later than it looks:
//
//   - HTTP/1 copies the map, and no string in it, when the status is set
//     (response.WriteHeader, response.Header), and writes that copy when its buffer
//     is full, flushed, or when the handler has returned: response.finishRequest,
//     chunkWriter.close, chunkWriter.writeHeader. Trailers are of the map as it is
//     then (response.finalTrailers). A name in them is part of a value of "Trailer"
//     (response.declareTrailer) or of a key with http.TrailerPrefix.
//   - HTTP/2 copies the map likewise (responseWriterState.writeHeader), and another
//     goroutine encodes it (writeResHeaders.writeFrame, encodeHeaders), and the
//     trailers, after the handler in any case (responseWriter.handlerDone,
//     promoteUndeclaredTrailers). A status of 1xx has it encode the handler's own
//     map; the handler waits for that, but not if the connection ends.
//   - Push hands its header, method and URL to the request that is pushed, which
//     outlives the one that pushes (serverConn.startPush).
//   - Handlers outside of this one read the map, as an access log does, and
//     http.TimeoutHandler copies it to another.
//
// Whether the connection is kept (Connection: close) and what goes to ErrorLog is
// read from the same maps. So they get copies, before the header is read first and
// again when the handler has returned.

// copies are the strings of a header on Go's heap, as own left it.
type copies struct {
	text  []byte   // of all keys and values
	lists []string // of all values
}

// own puts copies of all that h refers to in its place, in two pieces of Go's heap,
// unless it finds no other than those it put there the last time.
func (c *copies) own(h http.Header) {
	values, bytes, own := 0, 0, true
	for key, list := range h {
		values += len(list)
		bytes += len(key)
		own = own && c.has(key) && (cap(list) == 0 || addr.Within(list, c.lists))
		for _, v := range list {
			bytes += len(v)
			own = own && c.has(v)
		}
	}
	if own {
		return
	}
	c.text, c.lists = make([]byte, 0, bytes), make([]string, 0, values)
	type field struct {
		key  string
		list []string
	}
	fields := make([]field, 0, 16) // on the stack
	for key, list := range h {
		first := len(c.lists)
		for _, v := range list {
			c.lists = append(c.lists, c.add(v))
		}
		if cap(list) > 0 { // a list of no values may have room for some
			list = c.lists[first:len(c.lists):len(c.lists)]
		}
		fields = append(fields, field{c.add(key), list})
	}
	clear(h) // a map may keep the key that it has
	for _, f := range fields {
		h[f.key] = f.list
	}
}

// has reports whether s is a copy.
func (c *copies) has(s string) bool { return s == "" || addr.Holds(c.text, s) }

// add returns a copy of s.
func (c *copies) add(s string) string {
	n := len(c.text)
	c.text = append(c.text, s...)
	return addr.String(c.text[n:])
}
