package workload

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/haven-mem/haven/pool"
)

// Workload payment serves 200,000 requests on four workers. Each takes a record
// that has a buffer of 4 KiB, copies a message of 128 to 255 bytes into it, puts
// its own number there and hashes the message. That is little work, on
// purpose: what is compared is how record and buffer come and go. The pools keep
// the buffer with its record, and clear as much of it as was used when the
// record goes back.
//
// The first worker times every eighth of its requests, which is enough for
// percentiles and costs the others nothing. Four workers share two Ps or so, so
// the highest percentiles are those of requests that were preempted.

func init() {
	Register(Workload{
		Name:  "payment",
		Doc:   "requests that take a record with a buffer of 4 KiB, on four workers",
		Unit:  "request",
		Cases: paymentCases,
	})
}

const (
	paymentWorkers  = 4
	paymentRequests = 200_000
	paymentQuick    = 40_000
	paymentBuffer   = 4 << 10
	paymentMessage  = 128 // bytes at least, and twice as many at most
	paymentTimed    = 8   // every request of which number is timed
)

// paymentFresh names the variant with a new record and a new buffer for each
// request.
const paymentFresh = "fresh"

// A paymentRecord is what a request works with.
type paymentRecord struct {
	id       uint64
	amount   int
	from, to string
	attempts int
	used     int // bytes of buf
	buf      []byte
}

func newPaymentRecord() *paymentRecord {
	return &paymentRecord{buf: make([]byte, paymentBuffer)}
}

// reset makes the record ready for the next request.
func (p *paymentRecord) reset() {
	buf := p.buf
	clear(buf[:p.used])
	*p = paymentRecord{buf: buf}
}

var (
	paymentAccounts = [8]string{"DE02", "FR14", "NL20", "ES91", "IT60", "PT50", "AT61", "BE68"}

	// paymentText is what messages are cut from.
	paymentText = func() []byte {
		text := make([]byte, 4*paymentMessage)
		for i := range text {
			text[i] = byte('0' + i*7%75)
		}
		return text
	}()
)

// serve is request i. The record has to be reset.
func (p *paymentRecord) serve(i int) uint64 {
	p.id += uint64(i)
	p.amount = i * 25
	p.from, p.to = paymentAccounts[i&7], paymentAccounts[i>>3&7]
	p.attempts++
	left := p.buf[paymentMessage-1]
	p.used = copy(p.buf, paymentText[i&127:][:paymentMessage+i&127])
	binary.LittleEndian.PutUint64(p.buf, p.id)
	return p.hash() + uint64(p.attempts+len(p.to)+int(left))
}

// hash returns a hash of the message, word by word.
func (p *paymentRecord) hash() uint64 {
	h := uint64(p.amount)
	for b := p.buf[:p.used]; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * 0x9E3779B97F4A7C15
	}
	return h ^ h>>29
}

func paymentCases(cfg Config) []Case {
	n := paymentRequests
	if cfg.Quick {
		n = paymentQuick
	}
	return []Case{{
		Variants: variantsOf([]string{paymentFresh, syncPool, poolPool, poolLocal}, map[string][]Target{
			poolPool: {
				fasterThan(paymentFresh, 5),
				fasterThan(syncPool, 1),
			},
		}, func(name string) (Instance, error) { return newPayment(name, n), nil }),
	}}
}

func newPayment(name string, requests int) Instance {
	each := requests / paymentWorkers
	workers := make([]paymentWorker, paymentWorkers)
	var loop func(w *paymentWorker)
	switch name {
	case paymentFresh:
		loop = func(w *paymentWorker) { w.fresh(each) }
	case syncPool:
		records := &sync.Pool{New: func() any { return newPaymentRecord() }}
		loop = func(w *paymentWorker) { w.syncPool(records, each) }
	case poolPool:
		records := pool.New(newPaymentRecord, pool.Config[paymentRecord]{Reset: (*paymentRecord).reset})
		loop = func(w *paymentWorker) { w.pool(records, each) }
	case poolLocal:
		for i := range workers {
			workers[i].own = pool.NewLocal(newPaymentRecord, pool.LocalConfig[paymentRecord]{Reset: (*paymentRecord).reset})
		}
		loop = func(w *paymentWorker) { w.local(each) }
	default:
		panic("workload: no variant " + name)
	}
	return &task{
		ops: int64(each * paymentWorkers),
		run: func(r *Round) uint64 {
			workers[0].latencies = r.Latencies
			return together(paymentWorkers, func(i int) uint64 {
				w := &workers[i]
				w.sum = 0
				loop(w)
				return w.sum
			})
		},
	}
}

// A paymentWorker serves each of its requests in one of four ways.
type paymentWorker struct {
	seat[paymentRecord]
	sum       uint64
	latencies *Histogram // nil: nothing is timed
	own       *pool.Local[paymentRecord]
	_         [128]byte
}

// begin returns the time if request i is to be timed, otherwise 0.
func (w *paymentWorker) begin(i int) (start time.Time) {
	if w.latencies != nil && i%paymentTimed == 0 {
		start = time.Now()
	}
	return start
}

func (w *paymentWorker) end(start time.Time) {
	if !start.IsZero() {
		w.latencies.Add(time.Since(start))
	}
}

func (w *paymentWorker) serve(p *paymentRecord, i int) {
	w.last = p
	w.sum += p.serve(i)
}

func (w *paymentWorker) fresh(n int) {
	for i := range n {
		start := w.begin(i)
		p := newPaymentRecord()
		w.serve(p, i)
		w.end(start)
	}
}

func (w *paymentWorker) syncPool(records *sync.Pool, n int) {
	for i := range n {
		start := w.begin(i)
		p := records.Get().(*paymentRecord)
		w.serve(p, i)
		p.reset()
		records.Put(p)
		w.end(start)
	}
}

func (w *paymentWorker) pool(records *pool.Pool[paymentRecord], n int) {
	for i := range n {
		start := w.begin(i)
		p := records.Get()
		w.serve(p, i)
		records.Put(p)
		w.end(start)
	}
}

func (w *paymentWorker) local(n int) {
	for i := range n {
		start := w.begin(i)
		p := w.own.Get()
		w.serve(p, i)
		w.own.Put(p)
		w.end(start)
	}
}
