package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"

	"github.com/haven-mem/haven/bench/workload"
)

// Child serves one variant of the given workloads to the parent that started
// this process with [ChildCommand], and returns the exit status. It takes over
// the process: os.Stdout becomes os.Stderr, so that a workload which prints
// cannot garble the replies; interrupts are left to the parent; and the
// process exits at once when the parent goes away, even during a round.
func Child(all []workload.Workload, stdin io.Reader, stdout io.Writer) int {
	os.Stdout = os.Stderr
	signal.Ignore(os.Interrupt)

	if f, ok := stdin.(*os.File); ok {
		stdin = unblocked(f)
	}

	requests := make(chan request)
	go func() {
		dec := json.NewDecoder(bufio.NewReader(stdin))
		for {
			var req request
			if err := dec.Decode(&req); err != nil {
				if !errors.Is(err, io.EOF) {
					fmt.Fprintf(os.Stderr, "haven %s: started by haven bench, not by hand: %v\n", ChildCommand, err)
				}
				os.Exit(1)
			}
			requests <- req
		}
	}()

	s := server{all: all, meter: newMeter()}
	enc := json.NewEncoder(stdout)
	for req := range requests {
		rep, err := s.serve(req)
		if err != nil {
			rep.Error = err.Error()
		}
		rep.PeakRSS = peakRSS()
		if enc.Encode(rep) != nil || err != nil {
			return 1
		}
		if req.Op == opFinish {
			return 0
		}
	}
	return 0
}

// A server answers the requests of one parent.
type server struct {
	all   []workload.Workload
	meter *meter
	inst  workload.Instance
}

func (s *server) serve(req request) (reply, error) {
	if s.inst == nil && req.Op != opSetup {
		return reply{}, fmt.Errorf("%s before %s", req.Op, opSetup)
	}
	switch req.Op {
	case opSetup:
		v, err := findVariant(s.all, req)
		if err != nil {
			return reply{}, err
		}
		s.inst, err = v.Setup()
		if err == nil && s.inst == nil {
			err = errors.New("no instance")
		}
		if err != nil {
			return reply{}, fmt.Errorf("setup: %w", err)
		}
		rest()
		return reply{}, nil
	case opRound:
		round, wall, err := s.meter.run(s.inst, req.Passes)
		return reply{Round: &round, WallNS: int64(wall)}, err
	case opForget:
		s.meter.hist = workload.Histogram{}
		return reply{}, nil
	case opFinish:
		s.inst.Close()
		return reply{Latency: s.meter.latency()}, nil
	}
	return reply{}, fmt.Errorf("unknown request %q", req.Op)
}

// findVariant returns the variant that a setup request names.
func findVariant(all []workload.Workload, req request) (workload.Variant, error) {
	for _, w := range all {
		if w.Name != req.Workload {
			continue
		}
		for _, c := range w.Cases(req.Config) {
			if c.Name != req.Case {
				continue
			}
			for _, v := range c.Variants {
				if v.Name == req.Variant {
					return v, nil
				}
			}
		}
	}
	return workload.Variant{}, fmt.Errorf("no workload %q with case %q and variant %q", req.Workload, req.Case, req.Variant)
}
