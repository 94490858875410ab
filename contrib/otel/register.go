package havenotel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/haven-mem/haven/contrib/internal/metrics"
)

// Register makes the instruments with meter, and a callback that gives them their
// values when metrics are collected, until Unregister of the result. Register
// once: where two registrations with the same meter are alive, their numbers are
// added up. It returns the meter's error, and one if meter is nil.
//
// A collection walks all memory contexts and locks each cache and pool for a
// moment. It costs some microseconds for each name, and half a microsecond and a
// kilobyte, which is garbage afterwards, for each live context.
func Register(meter metric.Meter) (metric.Registration, error) {
	if meter == nil {
		return nil, errors.New("havenotel: Register(nil): want a meter, like otel.Meter(\"github.com/haven-mem/haven\")")
	}
	observables := make(map[*metrics.Metric]metric.Int64Observable)
	var all []metric.Observable
	for _, m := range metrics.Metrics() {
		o, err := instrument(meter, m)
		if err != nil {
			return nil, fmt.Errorf("havenotel: instrument haven.%s: %w", m.Name, err)
		}
		observables[m] = o
		all = append(all, o)
	}
	var reader metrics.Reader
	r, err := meter.RegisterCallback(func(_ context.Context, observer metric.Observer) error {
		for _, v := range reader.Read() {
			observer.ObserveInt64(observables[v.Metric], v.Number, metric.WithAttributeSet(attributes(v)))
		}
		return nil
	}, all...)
	if err != nil {
		return nil, fmt.Errorf("havenotel: %w", err)
	}
	return r, nil
}

// instrument makes the instrument of a metric.
func instrument(meter metric.Meter, m *metrics.Metric) (metric.Int64Observable, error) {
	name, unit, help := "haven."+m.Name, metric.WithUnit(m.Unit), metric.WithDescription(m.Help)
	switch m.Kind {
	case metrics.Counter:
		return meter.Int64ObservableCounter(name, unit, help)
	case metrics.Sum:
		return meter.Int64ObservableUpDownCounter(name, unit, help)
	default:
		return meter.Int64ObservableGauge(name, unit, help)
	}
}

// attributes returns the labels of a value.
func attributes(v metrics.Value) attribute.Set {
	list := make([]attribute.KeyValue, len(v.Labels))
	for i, l := range v.Labels {
		list[i] = attribute.String("haven."+v.Metric.Subject+"."+v.Metric.Labels[i], l)
	}
	return attribute.NewSet(list...)
}
