package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A client sends one request after the other over one connection.
type client struct {
	flow  *flow
	conn  net.Conn
	out   []byte // head and body of a request
	reply []byte

	latency      *hdrhistogram.Histogram // ns
	requests     int
	instructions int
}

// connect opens the connections of n clients to the gateway at addr. The clients
// that it returns are connected, even if there is an error.
func connect(ctx context.Context, addr string, n int) (clients []*client, err error) {
	for i := range n {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr)
		if err != nil {
			return clients, err
		}
		clients = append(clients, &client{flow: newFlow(i), conn: conn, reply: make([]byte, 32<<10), latency: newHistogram()})
	}
	return clients, nil
}

// newHistogram takes latencies up to a minute, with three digits.
func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(time.Minute), 3)
}

// forget sets the counts to zero.
func (c *client) forget() {
	c.latency.Reset()
	c.requests, c.instructions = 0, 0
}

// do sends a request and waits for its reply. The latency counts from due.
func (c *client) do(t *template, due time.Time) error {
	c.out = append(c.out[:0], "POST /orders HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\nContent-Length: "...)
	c.out = strconv.AppendInt(c.out, int64(len(t.body)), 10)
	c.out = append(c.out, "\r\n\r\n"...)
	c.out = append(c.out, t.body...)
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	body, err := c.receive()
	if err != nil {
		return err
	}
	if err := c.latency.RecordValue(int64(time.Since(due))); err != nil {
		return err
	}
	c.requests++
	c.instructions += t.count
	return c.remember(t, body)
}

// receive reads a reply and returns its body, which is good until the next call.
func (c *client) receive() ([]byte, error) {
	n, head, size := 0, -1, 0
	for head < 0 || n < head+size {
		if n == len(c.reply) {
			c.reply = append(c.reply, make([]byte, len(c.reply))...)
		}
		m, err := c.conn.Read(c.reply[n:])
		if err != nil {
			return nil, err
		}
		n += m
		if head < 0 {
			if i := bytes.Index(c.reply[:n], []byte("\r\n\r\n")); i >= 0 {
				head = i + 4
				if size, err = contentLength(c.reply[:head]); err != nil {
					return nil, err
				}
			}
		}
	}
	body := c.reply[head : head+size]
	if !bytes.HasPrefix(c.reply, []byte("HTTP/1.1 200 ")) {
		status, _, _ := bytes.Cut(c.reply, []byte("\r\n"))
		return nil, fmt.Errorf("the gateway replied %s: %s", status, bytes.TrimSpace(body))
	}
	return body, nil
}

// contentLength finds the length in the head of a reply.
func contentLength(head []byte) (int, error) {
	const key = "\r\nContent-Length: "
	i := bytes.Index(head, []byte(key))
	if i < 0 {
		return 0, fmt.Errorf("the reply has no Content-Length: %.200q", head)
	}
	value, _, _ := bytes.Cut(head[i+len(key):], []byte("\r\n"))
	n, err := strconv.Atoi(string(value))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("the reply has Content-Length %.40q", value)
	}
	return n, nil
}

var errNoID = errors.New("the reply has fewer results than the request instructions")

// remember takes the ids of the deep orders out of a reply, so that they can be
// cancelled.
func (c *client) remember(t *template, body []byte) error {
	const key = `{"id":"`
	at := 0
	for _, o := range t.deep {
		for ; at <= o.index; at++ {
			i := bytes.Index(body, []byte(key))
			if i < 0 {
				return errNoID
			}
			body = body[i+len(key):]
		}
		if len(body) < 16 {
			return errNoID
		}
		id, err := strconv.ParseUint(string(body[:16]), 16, 64)
		if err != nil {
			return fmt.Errorf("the reply has id %.16q", body)
		}
		c.flow.resting = append(c.flow.resting, owned{id, o.account})
	}
	return nil
}
