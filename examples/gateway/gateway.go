package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
	"github.com/haven-mem/haven/memctx"
)

// maxBody is the most bytes of a request: 64 instructions take some 11 KiB.
const maxBody = 64 << 10

// A gateway answers requests. It is on Haven or on Go's heap; what is different
// is what its fields hold.
type gateway struct {
	directory *market.Directory
	market    market.Market
	buffers   buffers
	memory    *memctx.Context // above those of requests; nil: requests have none
}

// orders carries out a batch: POST /orders.
func (g *gateway) orders(w http.ResponseWriter, r *http.Request) {
	body, err := g.read(r)
	if err != nil {
		refuse(w, err)
		return
	}
	defer g.buffers.Put(body)
	a := memctx.FromContext(r.Context()).Arena() // nil, which is Go's heap, if there is no context
	results, err := g.submit(a, *body)
	if err != nil {
		refuse(w, err)
		return
	}
	reply := g.buffers.Get(wire.SizeOf(results))
	defer g.buffers.Put(reply)
	*reply = wire.AppendResults((*reply)[:0], results)
	h := w.Header()
	h["Content-Type"] = contentJSON
	h["Content-Length"] = []string{strconv.Itoa(len(*reply))}
	w.Write(*reply) // an error means that the client is gone, and there is nobody to tell
}

var contentJSON = []string{"application/json"}

// submit goes from the bytes of a request to its results. What it makes on its
// way is in a, the memory of the request.
func (g *gateway) submit(a *arena.Arena, body []byte) ([]market.Result, error) {
	messages, err := wire.Parse(a, body)
	if err != nil {
		return nil, err
	}
	batch, err := wire.Translate(a, g.directory, messages)
	if err != nil {
		return nil, err
	}
	results, err := g.market.Submit(a, batch)
	var unknown *market.UnknownError
	if errors.As(err, &unknown) {
		m := &messages[unknown.Index]
		return nil, &wire.FieldError{
			Index: unknown.Index, Field: "id",
			Msg: fmt.Sprintf("account %s has no resting order %s", m.Account, m.ID),
		}
	}
	return results, err
}

var errTooLarge = fmt.Errorf("request is too large (at most %d bytes are accepted)", maxBody)

// read returns the body of a request in a buffer that the caller puts back.
func (g *gateway) read(r *http.Request) (*[]byte, error) {
	n := int(r.ContentLength)
	switch {
	case r.ContentLength > maxBody:
		return nil, errTooLarge
	case r.ContentLength < 0: // not known: one byte more tells a body that is too large
		n = maxBody + 1
	}
	b := g.buffers.Get(n)
	read, err := io.ReadFull(r.Body, *b)
	switch {
	case r.ContentLength >= 0 && err == nil:
		return b, nil
	case r.ContentLength < 0 && (err == io.EOF || err == io.ErrUnexpectedEOF):
		*b = (*b)[:read]
		return b, nil
	case err == nil:
		err = errTooLarge
	default:
		err = fmt.Errorf("request could not be read: %w", err)
	}
	g.buffers.Put(b)
	return nil, err
}
