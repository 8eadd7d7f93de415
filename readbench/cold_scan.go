package readbench

import (
	"context"
)

// coldScan: the file is evicted before each call and when all workers have come to the end of their stripes. In
// between its pages stay: those behind a cursor are not read again, and those before it were read ahead for it.
type coldScan struct{ coldPages }

func (s *coldScan) drawer(w *Worker) drawer { return &once{scan: newScan(s.run, w.ID), w: w} }

func (s *coldScan) prepare(ctx context.Context) error {
	if s.run.row.Effect == EffectNone {
		return nil
	}
	return s.evictCounted(ctx, 0)
}

func (s *coldScan) restore(ctx context.Context, when moment) error {
	if when == epochEnd {
		if err := s.leftNothing(); err != nil {
			return err
		}
	}
	return s.evict(ctx)
}

func (s *coldScan) judge(res *result) error {
	if res.row.Effect == EffectNone {
		return nil
	}
	if err := s.leftNothing(); err != nil {
		return err
	}
	// What lies before the cursors when the call ends was not read in vain: a longer call would have come to it.
	scanned := int64(0)
	for _, w := range s.run.workers {
		scanned += w.draw.(*once).scanned
	}
	if ahead := res.after.Resident*int64(res.page) - scanned; ahead > 0 && !res.direct {
		res.ahead = uint64(ahead)
	}
	return s.coldPages.judge(res)
}
