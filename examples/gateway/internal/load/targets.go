package load

import "fmt"

// addTargets compares what was measured at the fixed rate with what is expected of
// Haven.
func (r *Report) addTargets() {
	find := func(name string) Row {
		for _, row := range r.Rows {
			if row.Name == name { // the first part is that of the fixed rate
				return row
			}
		}
		return Row{}
	}
	if len(r.Results[0].Steady) == 0 {
		return
	}
	cpu := find("CPU per request")
	less := 100 * (1 - 1/cpu.Ratio.Median)
	r.Targets = append(r.Targets, Target{
		Text:     "at least 30 % less CPU per request than heap",
		Measured: fmt.Sprintf("%.0f %% less", less),
		Met:      less >= 30,
	})
	gc := find("GC CPU per request")
	measured := "none"
	if gc.Values[1].Median > 0 {
		measured = fmt.Sprintf("%s× less", number(gc.Ratio.Median))
	}
	r.Targets = append(r.Targets, Target{
		Text:     "at least 4× less GC CPU than heap",
		Measured: measured,
		Met:      gc.Values[0].Median >= 4*gc.Values[1].Median,
	})
	tail := find("latency p99.9")
	r.Targets = append(r.Targets, Target{
		Text:     "latency p99.9 below heap's",
		Measured: fmt.Sprintf("%s against %s", tail.Unit.format(tail.Values[1].Median), tail.Unit.format(tail.Values[0].Median)),
		Met:      tail.Values[1].Median < tail.Values[0].Median,
	})
}
