package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/haven-mem/haven/debugpage"
)

const (
	requestTimeout = 5 * time.Second
	maxAnswer      = 256 << 20 // bytes; a page with all the contexts it lists has one or two million
)

// A reading is one answer of the page.
type reading struct {
	stats *debugpage.Stats
	json  []byte    // as it came
	at    time.Time // when it came, by our clock
}

// A source is where readings come from.
type source struct {
	url     *url.URL
	client  *http.Client
	timeout time.Duration // of a request, the reading of its answer included
	most    int64         // bytes of an answer
}

func newSource(u *url.URL) *source {
	return &source{url: u, client: &http.Client{}, timeout: requestTimeout, most: maxAnswer}
}

// advice is what to do when there is no page at the address.
const advice = "serve it there with debugpage.Register(mux)"

// read fetches one reading. Its errors say what was asked and what to do.
func (s *source) read(ctx context.Context) (*reading, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	at := s.url.Redacted()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", at, err)
	}
	answer, err := s.client.Do(request)
	if err != nil {
		return nil, s.explain(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("no Haven page at %s: %s; %s", at, answer.Status, advice)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, s.most+1))
	if err != nil {
		return nil, s.explain(err)
	}
	if int64(len(body)) > s.most {
		return nil, fmt.Errorf("the answer of %s is larger than %s; a Haven page is not", at, formatBytes(s.most))
	}
	stats, err := decode(body)
	if err != nil {
		var other *otherFormatError
		if errors.As(err, &other) {
			return nil, fmt.Errorf("%s %w; install the haven command of the Haven version that the program is built with", at, err)
		}
		if kind := answer.Header.Get("Content-Type"); kind != "" {
			err = fmt.Errorf("%w (%s)", err, kind)
		}
		return nil, fmt.Errorf("no Haven page at %s: %w; %s", at, err, advice)
	}
	return &reading{stats: stats, json: body, at: time.Now()}, nil
}

// explain makes an error of the connection one that says what to do.
func (s *source) explain(err error) error {
	at := s.url.Redacted()
	var timeout net.Error
	var in *url.Error
	var op *net.OpError
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer from %s in %v; does it listen there, and is it under a debugger or overloaded?", at, s.timeout)
	case errors.Is(err, syscall.ECONNREFUSED):
		err = errors.New("connection refused")
	case errors.As(err, &op):
		err = op.Err // without the address once more
	case errors.As(err, &in):
		err = in.Err
	}
	return fmt.Errorf("no answer from %s: %w; is the program running, and does it listen there?", at, err)
}

// An otherFormatError is JSON of a page that is newer or older than this command.
type otherFormatError struct{ format string }

func (e *otherFormatError) Error() string {
	return fmt.Sprintf("has the format %q, and this command reads %q", e.format, debugpage.Format)
}

// decode reads the JSON of the page. It looks at the format before anything else.
func decode(body []byte) (*debugpage.Stats, error) {
	var marker struct{ Format *string }
	if err := json.Unmarshal(body, &marker); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, errors.New("the answer is not JSON")
		}
		return nil, errors.New("the answer is other JSON")
	}
	if marker.Format == nil {
		return nil, errors.New("the answer is other JSON")
	}
	if *marker.Format != debugpage.Format {
		return nil, &otherFormatError{*marker.Format}
	}
	s := new(debugpage.Stats)
	if err := json.Unmarshal(body, s); err != nil {
		return nil, fmt.Errorf("the answer is broken: %v", err)
	}
	return s, nil
}
