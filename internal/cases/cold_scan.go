package cases

import (
	"context"
	"math/rand/v2"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
)

// coldScan: the file is evicted before each call and when all workers have come to the end of their stripes. In
// between its pages stay: those behind a cursor are not read again, and those before it were read ahead for it.
type coldScan struct {
	pages
	scans []*draw.Once // of the workers
}

func (s *coldScan) Drawer(worker int, _ *rand.PCG, gate draw.Gate) draw.Drawer {
	from, to := s.stripe(worker)
	scan := draw.NewOnce(s.Shape, from, to, gate, &s.Evictions)
	s.scans = append(s.scans, scan)
	return scan
}

func (s *coldScan) Prepare(ctx context.Context) error {
	if s.Shape.Effect == shape.None {
		return nil
	}
	return s.evictCounted(ctx, 0)
}

func (s *coldScan) Restore(ctx context.Context, when Moment) error {
	if when == EpochEnd {
		if err := s.leftNothing(); err != nil {
			return err
		}
	}
	return s.evict(ctx)
}

func (s *coldScan) Judge(res *result.Result) error {
	if res.Shape.Effect == shape.None {
		return nil
	}
	if err := s.leftNothing(); err != nil {
		return err
	}
	// What lies before the cursors when the call ends was not read in vain: a longer call would have come to it.
	scanned := int64(0)
	for _, scan := range s.scans {
		scanned += scan.Scanned()
	}
	if ahead := res.After.Resident*int64(res.Page) - scanned; ahead > 0 && !res.Direct {
		res.Ahead = uint64(ahead)
	}
	return s.pages.judge(res)
}
