package storedfields

import (
	"context"
	"fmt"
	"testing"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Retrieve measures retrieving documents by a strategy that does not hint, in every case, with every number of documents and
// of threads that is configured, one row each:
//
//	func BenchmarkRetrieveMine(b *testing.B) { storedfields.Retrieve(b, mine{}) }
//
// Documents are read one after the other, as the library does; by a strategy that reads in batches, 16 together.
func Retrieve(b *testing.B, s strategy.Strategy) {
	suite, corpus := start(b)
	rows(b, suite, corpus, []form{{}}, []strategy.Strategy{s})
}

// PrefetchThenRead measures retrieving documents from a mapping, 16 of which are hinted before the first of them is read,
// with every prefetch policy that is configured and every one of the caller's own: once with hints of whole chunks
// (prefetch=block), and once of nothing but what the documents need (prefetch=span).
func PrefetchThenRead(b *testing.B, mapping strategies.Prefetching, own ...prefetch.Policy) {
	runPolicies(b, []form{{label: "block"}, {label: "span"}}, mapping, own)
}

// PrefetchOnly is PrefetchThenRead that does not read the documents, only, for prefetch=span, the headers of their chunks.
func PrefetchOnly(b *testing.B, mapping strategies.Prefetching, own ...prefetch.Policy) {
	runPolicies(b, []form{{label: "block", only: true}, {label: "span", only: true}}, mapping, own)
}

// form is how documents are hinted.
type form struct {
	label string // block, span, or "": not at all
	only  bool   // they are not read
}

func runPolicies(b *testing.B, forms []form, mapping strategies.Prefetching, own []prefetch.Policy) {
	suite, corpus := start(b)
	all, err := mapping.Strategies(suite.Config(), own...)
	if err != nil {
		b.Fatal(err)
	}
	for i := range all {
		all[i] = InPlace(all[i])
	}
	rows(b, suite, corpus, forms, all)
}

// shared is the corpus of the process's suite.
var shared *Corpus

// start returns what READBENCH_* variables describe, made on the first call in a process.
func start(b *testing.B) (*readbench.Suite, *Corpus) {
	b.Helper()
	suite := readbench.StartFiles(b, func(ctx context.Context, c *config.Config) ([]string, error) {
		var err error
		if shared, err = OpenCorpus(ctx, c); err != nil {
			return nil, err
		}
		return shared.Files, nil
	}, "LUCENE_INDEX")
	if err := declare(suite, shared); err != nil {
		b.Fatal(err)
	}
	return suite, shared
}

// declare prints the configuration and unit lines of the workload.
func declare(suite *readbench.Suite, corpus *Corpus) error {
	skew := string(suite.Config().Skew)
	if suite.Config().Skew == config.SkewZipf {
		skew = fmt.Sprintf("zipf, exponent %v (cold: each chunk once)", zipfExponent)
	}
	always := "one madvise for each range"
	if !strategies.Stock(suite.Config()) {
		always = "the hint of the other policies"
	}
	for _, setting := range [][2]string{
		{"policy-always", always}, // not the same thing under one name in two runs
		{"index", corpus.origin},
		{"index-shape", corpus.shape()},
		{"document-check", corpus.Checked()},
		{"skew", skew},
	} {
		if err := suite.Setting(setting[0], setting[1]); err != nil {
			return err
		}
	}
	for _, m := range metrics {
		if m.better == "" {
			continue
		}
		if err := suite.Unit(m.unit, m.better); err != nil {
			return err
		}
	}
	return nil
}

func rows(b *testing.B, suite *readbench.Suite, corpus *Corpus, forms []form, all []strategy.Strategy) {
	c := suite.Config()
	for _, pageCase := range c.Cases {
		for _, topK := range c.TopK {
			for _, threads := range c.Threads.Or(1, 8) {
				for _, f := range forms {
					for _, s := range all {
						suite.Run(b, newRow(c, corpus, f, s, pageCase, topK, threads))
					}
				}
			}
		}
	}
}

func newRow(c *config.Config, corpus *Corpus, f form, s strategy.Strategy, pageCase string, topK, threads int) readbench.Row {
	e := &extra{workers: make([]*stats, threads), hints: f.only, sample: c.Metrics == config.MetricsAll && !f.only, threads: threads,
		source: evidence.Source{Proc: "/proc"}}
	for i := range e.workers {
		e.workers[i] = new(stats)
	}
	row := readbench.Row{
		Strategy: s, Case: pageCase, Threads: threads, Labels: []string{fmt.Sprintf("topk=%d", topK)},
		Units: corpus.Index.Docs, Batch: topK, MaxRange: corpus.longest, MaxRanges: window,
		// However documents are drawn, headers and dictionaries are read more often than sub-blocks, and so stay in memory.
		Skewed: pageCase != caseCold, Extra: e,
	}
	if pageCase == caseCold {
		row.Units = corpus.chunks
	}
	if f.label != "" {
		row.Labels = append(row.Labels, "prefetch="+f.label)
		row.MaxRanges = maxRanges
	}
	if f.only {
		row.Effect = readbench.EffectHint
	}
	row.Op = func(w *readbench.Worker) (func() error, error) {
		r := newRetriever(w, corpus, e.workers[w.ID], e.sample)
		_, batch := w.Reader().(strategy.BatchReader)
		return newOp(r, r.way(f, batch), newDrawer(w, corpus, pageCase, c.Skew, topK), topK, pageCase == caseCold), nil
	}
	return row
}

// newOp returns an op: it draws documents and does something with them, window by window.
func newOp(r *retriever, do func([]place) error, d drawer, topK int, cold bool) func() error {
	places := make([]place, topK)
	return func() error {
		if cold {
			r.ahead.forget() // no chunk comes twice, but those before the files were evicted
		}
		for rest := places; len(rest) > 0; {
			n, err := d.draw(rest)
			if err != nil {
				return err
			}
			drawn := rest[:n]
			rest = rest[n:]
			for len(drawn) > 0 {
				k := min(window, len(drawn))
				if err := do(drawn[:k]); err != nil {
					return err
				}
				drawn = drawn[k:]
			}
		}
		return nil
	}
}

// way is what is done with a window of documents; batch is whether the strategy reads in batches.
func (r *retriever) way(f form, batch bool) func([]place) error {
	read := r.oneByOne
	if batch {
		read = func(p []place) error { return r.together(p, false) }
	}
	hint := r.hintBlocks
	if f.label == "span" {
		hint = r.hintSpans
	}
	switch {
	case f.label == "":
		return read
	case f.only:
		return func(p []place) error {
			r.st.docs += len(p)
			return hint(p)
		}
	case f.label == "span":
		return func(p []place) error { return r.together(p, true) }
	}
	return func(p []place) error {
		if err := hint(p); err != nil {
			return err
		}
		return read(p)
	}
}
