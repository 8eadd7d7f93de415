package prefetch

import (
	"math/rand/v2"
	"testing"

	"github.com/readbench/suite/readbench/strategy"
)

// hotWorker is a worker on a file of 1 GiB that is all resident, whose probes and hints cost nothing, and batches of
// unaligned ranges of 16 KiB for it, as long as asked for.
func hotWorker(p Policy, length int) (w *Worker, batches [][]strategy.Range) {
	t := target(1)
	t.Size = 1 << 30
	d := p.Open(t)(0)
	w = &Worker{decider: d, page: page, size: t.Size}
	w.skipper, _ = d.(Skipper)
	w.probe = func(strategy.Range) (bool, error) { return true, nil }
	w.hint = func(strategy.Range) error { return nil }
	const bytes = 16 << 10
	rng := rand.New(rand.NewPCG(1, 2))
	for range 1024 / length {
		batch := make([]strategy.Range, length)
		for i := range batch {
			batch[i] = strategy.Range{Off: rng.Int64N(t.Size - bytes), N: bytes}
		}
		batches = append(batches, batch)
	}
	return w, batches
}

// BenchmarkSkipped is what a range costs that is neither probed nor hinted, by a policy that was set to where it
// skips. (SlowClimb never skips more than 7 in a row: it is set there before each batch, and the atomic store for that
// counts, too. Always and Loaded skip nothing.)
func BenchmarkSkipped(b *testing.B) {
	const far = 1 << 60
	for _, c := range []struct {
		policy Policy
		length int // ranges of a batch
		settle func(Decider)
		again  bool // before each batch
	}{
		{Backoff(), 16, func(d Decider) { d.(*countingDecider).c.n.Store(far + 1) }, false},
		{BackoffLocal(), 16, func(d Decider) { d.(*countingDecider).c.n.Store(far + 1) }, false},
		{SlowClimb(), 7, func(d Decider) { d.(*countingDecider).c.n.Store(9) }, true},
		{RunLength(), 16, func(d Decider) { d.(*runLengthDecider).gap = far }, false},
		{Bitmap(), 16, func(d Decider) { d.Learn(strategy.Range{N: 1 << 30}, true) }, false},
		{Adaptive(), 16, func(d Decider) { a := d.(*adaptiveDecider); a.mood, a.gap = trusting, far }, false},
	} {
		b.Run("policy="+c.policy.Name(), func(b *testing.B) {
			w, batches := hotWorker(c.policy, c.length)
			c.settle(w.decider)
			b.ReportAllocs()
			b.ResetTimer()
			next := 0
			for done := 0; done < b.N; done += c.length {
				if c.again {
					c.settle(w.decider)
				}
				if err := w.Prefetch(batches[next]); err != nil {
					b.Fatal(err)
				}
				if next++; next == len(batches) {
					next = 0
				}
			}
			if w.probed+w.hinted > 0 {
				b.Fatalf("it probed %d ranges and hinted %d, want none", w.probed, w.hinted)
			}
		})
	}
}

// BenchmarkDecide is what a range costs on average when all is resident, what is probed or hinted among them, without
// the system calls themselves.
func BenchmarkDecide(b *testing.B) {
	for _, p := range Policies() {
		b.Run("policy="+p.Name(), func(b *testing.B) {
			w, batches := hotWorker(p, 16)
			if w.decider == nil {
				b.Skip("it has no decider: nothing is called")
			}
			run := func(n int) {
				for i := range n {
					if err := w.Prefetch(batches[i%len(batches)]); err != nil {
						b.Fatal(err)
					}
				}
			}
			run(1000) // until it has settled
			before := w.probed
			b.ReportAllocs()
			b.ResetTimer()
			run((b.N + 15) / 16)
			b.ReportMetric(float64(w.probed-before)/float64(b.N), "probed/op")
		})
	}
}
