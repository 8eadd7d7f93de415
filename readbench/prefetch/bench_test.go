package prefetch

import (
	"testing"

	"github.com/readbench/suite/readbench"
)

// BenchmarkDecide is what a decision costs, per range, in batches of 16, by a worker that has seen all of the
// file resident: what is skipped and what is decided about, without the probe itself.
func BenchmarkDecide(b *testing.B) {
	for _, p := range Policies() {
		b.Run("policy="+p.Name(), func(b *testing.B) {
			d := deciders(p, target(1))[0]
			if d == nil {
				b.Skip("it has no decider: nothing is called")
			}
			w := &Worker{decider: d, page: page, size: 1024 * page}
			w.skipper, _ = d.(Skipper)
			w.probe = func(readbench.Range) (bool, error) { return true, nil }
			w.hint = func(readbench.Range) error { return nil }
			var batches [64][16]readbench.Range
			for i := range batches {
				for j := range batches[i] {
					batches[i][j] = readbench.Range{Off: int64(i*16+j*37%16) * page, N: page}
				}
				if err := w.Prefetch(batches[i][:]); err != nil {
					b.Fatal(err)
				}
			}
			for range 1000 {
				if err := w.Prefetch(batches[0][:]); err != nil {
					b.Fatal(err)
				}
			}
			before := w.probed
			b.ResetTimer()
			for i := 0; i < b.N; i += 16 {
				if err := w.Prefetch(batches[i/16%64][:]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(w.probed-before)/float64(b.N), "probed/op")
		})
	}
}
