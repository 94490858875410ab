package havenotel_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unicode/utf8"

	otelmetric "go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	havenotel "github.com/haven-mem/haven/contrib/otel"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// register returns a reader of the SDK for what Register registers, and the
// registration.
func register(t *testing.T, opts ...metric.ManualReaderOption) (metric.Reader, otelmetric.Registration) {
	t.Helper()
	reader := metric.NewManualReader(opts...)
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := havenotel.Register(provider.Meter("haven"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := provider.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return reader, registration
}

// collect returns the values of a collection by metric and attributes, as
// `haven.cache.bytes haven.cache.name=nodes`, and the metrics.
func collect(t *testing.T, reader metric.Reader) (map[string]int64, []metricdata.Metrics) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &all); err != nil {
		t.Error(err)
	}
	values := map[string]int64{}
	var metrics []metricdata.Metrics
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			metrics = append(metrics, m)
			var points []metricdata.DataPoint[int64]
			switch data := m.Data.(type) {
			case metricdata.Sum[int64]:
				points = data.DataPoints
			case metricdata.Gauge[int64]:
				points = data.DataPoints
			default:
				t.Errorf("%s is a %T", m.Name, data)
			}
			for _, p := range points {
				id := m.Name
				for _, a := range p.Attributes.ToSlice() {
					id += fmt.Sprintf(" %s=%s", a.Key, a.Value.AsString())
				}
				if _, twice := values[id]; twice {
					t.Errorf("%s is there twice", id)
				}
				values[id] = p.Value
			}
		}
	}
	return values, metrics
}

var runs atomic.Int64

// unique returns a name that no earlier run of the test has used, whose caches may
// be alive still.
func unique(name string) string { return fmt.Sprint(name, runs.Add(1)) }

// The numbers of the process are those of its Stats.
func TestProcess(t *testing.T) {
	testkit.NeedsReuse(t)
	reader, _ := register(t)
	name := unique("process")
	nodes := slab.NewCache(slab.Config[[48]byte]{Name: name, Capacity: 1000})
	buffers := pool.NewBytes(pool.BytesConfig{Name: name, MaxBytes: 1 << 20, Floor: 100}) // no collection takes them
	server := memctx.New(name + " server")
	defer server.Delete()
	var inUse []*[48]byte
	for i := range 100 {
		n := nodes.Alloc()
		if i%3 == 0 {
			nodes.Free(n)
		} else {
			inUse = append(inUse, n)
		}
		b := buffers.Get(i * 100)
		if i%4 != 0 {
			buffers.Put(b)
		}
		request := server.Child(name, memctx.Config{Ident: "7"})
		arena.MakeSlice[byte](request.Arena(), 1000, 1000)
		if i%10 != 0 {
			request.Delete()
		} else {
			defer request.Delete()
		}
	}
	values, _ := collect(t, reader)
	cache, buffer := nodes.Stats(), buffers.Stats()
	var requests memctx.NameStats
	for s := range memctx.Names() {
		if s.Name == name {
			requests = s
		}
	}
	for id, want := range map[string]int64{
		"haven.context.live haven.context.name=$":                               10,
		"haven.context.live haven.context.name=$ server":                        1,
		"haven.context.created haven.context.name=$":                            100,
		"haven.context.deleted haven.context.name=$":                            90,
		"haven.context.bytes haven.context.name=$":                              int64(requests.Usage.Bytes),
		"haven.context.chunks haven.context.name=$":                             int64(requests.Usage.Chunks),
		"haven.context.high_water_bytes haven.context.name=$":                   int64(requests.Usage.HighWater),
		"haven.context.warm_gets haven.context.name=$ haven.context.result=hit": int64(requests.Warm.Hits),
		"haven.cache.objects haven.cache.name=$ haven.cache.state=in_use":       int64(len(inUse)),
		"haven.cache.capacity haven.cache.name=$":                               1000,
		"haven.cache.bytes haven.cache.name=$":                                  int64(cache.Bytes),
		"haven.cache.allocs haven.cache.name=$ haven.cache.result=hit":          int64(cache.Hits),
		"haven.cache.allocs haven.cache.name=$ haven.cache.result=miss":         int64(cache.Misses),
		"haven.cache.frees haven.cache.name=$":                                  int64(cache.Frees),
		"haven.pool.objects haven.pool.name=$ haven.pool.state=in_use":          25,
		"haven.pool.objects haven.pool.name=$ haven.pool.state=idle":            int64(buffer.Idle),
		"haven.pool.bytes haven.pool.name=$":                                    int64(buffer.Bytes),
		"haven.pool.max_bytes haven.pool.name=$":                                1 << 20,
		"haven.pool.gets haven.pool.name=$ haven.pool.result=hit":               int64(buffer.Hits),
		"haven.pool.gets haven.pool.name=$ haven.pool.result=miss":              int64(buffer.Misses),
		"haven.pool.puts haven.pool.name=$":                                     75,
	} {
		id = strings.ReplaceAll(id, "$", name)
		if got, ok := values[id]; !ok || got != want {
			t.Errorf("%s is %d (there: %v), want %d", id, got, ok, want)
		}
	}
	if got, ok := values["haven.pool.max_objects haven.pool.name="+name]; ok {
		t.Errorf("a pool without a bound has the bound %d", got)
	}
	if requests.Usage.Bytes < 10*1000 || cache.Hits == 0 || buffer.Hits == 0 {
		t.Errorf("nothing to see: %+v, %v, %v", requests, cache, buffer)
	}
	runtime.KeepAlive(inUse)
	runtime.KeepAlive(nodes)
	runtime.KeepAlive(buffers)
}

// Caches of one name are one, as are names that look the same once they are UTF-8,
// which is what the protocol wants.
func TestSameName(t *testing.T) {
	reader, _ := register(t)
	name := unique("same")
	a, b := slab.NewCache(slab.Config[int]{Name: name + "\xff"}), slab.NewCache(slab.Config[string]{Name: name + "\xfe"})
	n, s := a.Alloc(), b.Alloc()
	values, _ := collect(t, reader)
	if got := values["haven.cache.objects haven.cache.name="+name+"\uFFFD haven.cache.state=in_use"]; got != 2 {
		t.Errorf("%d objects of two caches are in use, want 2", got)
	}
	for id := range values {
		if !utf8.ValidString(id) {
			t.Errorf("%q", id)
		}
	}
	a.Free(n)
	b.Free(s)
}

// Exporters that send differences get none below zero when a cache dies.
func TestDeathInDeltas(t *testing.T) {
	reader, _ := register(t, metric.WithTemporalitySelector(func(metric.InstrumentKind) metricdata.Temporality {
		return metricdata.DeltaTemporality
	}))
	name := unique("deltas")
	frees := "haven.cache.frees haven.cache.name=" + name
	kept := slab.NewCache(slab.Config[[64]byte]{Name: name})
	step := func(want int64) {
		t.Helper()
		values, _ := collect(t, reader)
		if got, ok := values[frees]; !ok || got != want {
			t.Errorf("%d more (there: %v), want %d", got, ok, want)
		}
	}
	count := func() (n int) {
		for s := range slab.Caches() {
			if s.Name == name {
				n++
			}
		}
		return n
	}
	func() {
		short := slab.NewCache(slab.Config[[64]byte]{Name: name})
		for range 1000 {
			short.Free(short.Alloc())
		}
		kept.Free(kept.Alloc())
		step(1001)
		step(0)
		runtime.KeepAlive(short)
	}()
	for deadline := time.Now().Add(20 * time.Second); count() == 2 && time.Now().Before(deadline); {
		runtime.GC()
	}
	if n := count(); n != 1 {
		t.Fatalf("%d caches are alive, want 1", n)
	}
	step(0)
	kept.Free(kept.Alloc())
	step(1)
	runtime.KeepAlive(kept)
}

// After Unregister nothing is collected any more.
func TestUnregister(t *testing.T) {
	reader, registration := register(t)
	mc := memctx.New("unregister")
	defer mc.Delete()
	const live = "haven.context.live haven.context.name=unregister"
	if values, _ := collect(t, reader); values[live] != 1 {
		t.Fatalf("no value %s", live)
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if values, _ := collect(t, reader); len(values) != 0 {
		t.Errorf("%d values after Unregister, among them %s: %d", len(values), live, values[live])
	}
}

// A verdict is an arena.TestingT of a test that is to fail.
type verdict struct{ end func() }

func (v *verdict) Helper()               {}
func (v *verdict) Errorf(string, ...any) {}
func (v *verdict) Cleanup(f func())      { v.end = f }

// Instruments are described as OpenTelemetry's conventions want them, and as the
// documentation of the package lists them.
func TestInstruments(t *testing.T) {
	// A value of each metric.
	c := slab.NewCache(slab.Config[int]{Name: "all", Capacity: 1})
	p := pool.New(func() *int { return new(int) }, pool.Config[int]{Name: "all", Max: 1, MaxBytes: 100})
	check.SampleStacks(1)
	defer check.SampleStacks(128)
	old := memctx.New("all", memctx.Config{MaxAge: time.Nanosecond})
	defer old.Delete()
	for start := time.Now(); time.Since(start) < time.Microsecond; {
	}
	v := new(verdict)
	check.VerifyNoStale(v)
	a := arena.NewArena(arena.Config{Name: "all"})
	kept := arena.New[int](a)
	a.Reset()
	v.end()
	runtime.KeepAlive(kept)
	reader, _ := register(t)
	values, metrics := collect(t, reader)

	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]string{}
	for line := range strings.Lines(string(doc)) {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "//" && strings.HasPrefix(line, "//\thaven.") {
			documented[f[1]] = f[2]
		}
	}
	name := regexp.MustCompile(`^haven(\.[a-z]+(_[a-z]+)*)+$`)
	unit := regexp.MustCompile(`^(By|\{[a-z]+\})$`)
	for _, m := range metrics {
		if !name.MatchString(m.Name) || !unit.MatchString(m.Unit) || m.Description == "" {
			t.Errorf("%s in %s: %q", m.Name, m.Unit, m.Description)
		}
		if documented[m.Name] != m.Unit {
			t.Errorf("%s is in %s, documented as in %q", m.Name, m.Unit, documented[m.Name])
		}
		delete(documented, m.Name)
		grows := false
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			grows = data.IsMonotonic
		case metricdata.Gauge[int64]:
			if m.Name != "haven.context.high_water_bytes" {
				t.Errorf("%s is a gauge", m.Name)
			}
		}
		counters := []string{"created", "deleted", "abandoned", "dropped", "limit_errors", "warm_gets",
			"allocs", "frees", "gets", "puts", "trimmed", "leaks", "stale_pointers"}
		if want := slices.Contains(counters, m.Name[strings.LastIndex(m.Name, ".")+1:]); grows != want {
			t.Errorf("%s is monotonic: %v, want %v", m.Name, grows, want)
		}
	}
	if len(documented) > 0 {
		t.Errorf("documented, and not collected: %v", documented)
	}
	attr := regexp.MustCompile(` (haven\.[a-z]+)\.(name|state|result|reason|kind|what)=[^=]*$`)
	for id := range values {
		rest := id
		for attr.MatchString(rest) {
			rest = rest[:attr.FindStringIndex(rest)[0]]
		}
		if !name.MatchString(rest) {
			t.Errorf("%s", id)
		}
	}
	runtime.KeepAlive(c)
	runtime.KeepAlive(p)
}

// broken is a meter that fails at one instrument, or at the callback.
type broken struct {
	noop.Meter
	at string
}

var errBroken = errors.New("broken")

func (b broken) Int64ObservableCounter(name string, o ...otelmetric.Int64ObservableCounterOption) (otelmetric.Int64ObservableCounter, error) {
	if name == b.at {
		return nil, errBroken
	}
	return b.Meter.Int64ObservableCounter(name, o...)
}

func (b broken) RegisterCallback(f otelmetric.Callback, o ...otelmetric.Observable) (otelmetric.Registration, error) {
	if b.at == "" {
		return nil, errBroken
	}
	return b.Meter.RegisterCallback(f, o...)
}

func TestErrors(t *testing.T) {
	if r, err := havenotel.Register(nil); r != nil || err == nil || !strings.HasPrefix(err.Error(), "havenotel: Register(nil): ") {
		t.Errorf("Register(nil) returns %v and %v", r, err)
	}
	r, err := havenotel.Register(broken{at: "haven.pool.puts"})
	if r != nil || !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "haven.pool.puts") {
		t.Errorf("a broken instrument: %v and %v", r, err)
	}
	if r, err := havenotel.Register(broken{}); r != nil || !errors.Is(err, errBroken) {
		t.Errorf("a broken callback: %v and %v", r, err)
	}
	if r, err := havenotel.Register(noop.Meter{}); r == nil || err != nil {
		t.Errorf("a meter that does nothing: %v and %v", r, err)
	}
}

// Collections at the same time, while others work, are whole.
func TestParallel(t *testing.T) {
	reader, _ := register(t)
	kept := slab.NewCache(slab.Config[[32]byte]{Name: "parallel"})
	kept.Free(kept.Alloc())
	stop := make(chan struct{})
	var worker, collectors sync.WaitGroup
	worker.Add(1)
	go func() {
		defer worker.Done()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			c := slab.NewCache(slab.Config[[32]byte]{Name: "parallel"})
			c.Free(c.Alloc())
			mc := memctx.New("parallel")
			mc.Child("parallel child").Arena()
			mc.Delete()
			if i%100 == 0 {
				runtime.GC()
			}
		}
	}()
	for range 3 {
		collectors.Add(1)
		go func() {
			defer collectors.Done()
			last := int64(1)
			for range 50 {
				values, _ := collect(t, reader)
				now := values["haven.cache.frees haven.cache.name=parallel"]
				if now < last {
					t.Errorf("haven.cache.frees went from %d to %d", last, now)
				}
				last = now
			}
		}()
	}
	collectors.Wait()
	close(stop)
	worker.Wait()
	runtime.KeepAlive(kept)
}
