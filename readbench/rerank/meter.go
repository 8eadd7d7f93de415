package rerank

import (
	"time"
)

// meter has the workload's own metrics, and checks results when a call is over. It is a readbench.Extra.
type meter struct {
	d         *Data
	searchers []*searcher
	settings  map[string]float64 // metrics that say how the row was set
	open      bool               // queries/s is the open loop's to tell
}

func (m *meter) Reset() {
	for _, s := range m.searchers {
		s.stats = stats{sample: s.sample[:0]}
	}
}

func (m *meter) Report(ops int, elapsed time.Duration, report func(value float64, unit string)) error {
	r := newReference(m.d.index, m.d.suite.Config().Shortlist)
	queries, reads := 0, 0
	for _, s := range m.searchers {
		queries += s.queries
		reads += s.reads
		for _, a := range s.sample {
			if err := r.check(a); err != nil {
				return err
			}
		}
	}
	if queries > 0 {
		report(float64(reads)/float64(queries), "reads/op")
	}
	report(100*m.d.recall, "recall-%")
	if !m.open {
		report(float64(ops)/elapsed.Seconds(), "queries/s")
	}
	for unit, value := range m.settings {
		report(value, unit)
	}
	return nil
}
