package readbench

import (
	"context"
	"errors"
)

// coldScan: the file is evicted before each call and when all workers have come to the end of their stripes. In
// between its pages stay: those behind a cursor are not read again, and those before it were read ahead for it.
type coldScan struct{ coldPages }

func (s *coldScan) drawer(w *Worker) drawer { return &once{newScan(s.run, w.ID), w} }

func (s *coldScan) prepare(ctx context.Context) error {
	if s.run.row.Effect == EffectNone {
		return nil
	}
	return errors.Join(s.evict(ctx), s.counted())
}

func (s *coldScan) restore(ctx context.Context, _ moment) error { return s.evict(ctx) }

func (s *coldScan) judge(res *result) error {
	if res.row.Effect == EffectNone {
		return nil
	}
	return s.coldPages.judge(res)
}
