package cases

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// coldList: the ranges of a list lie in slots of which none comes twice, and the file is evicted when the list is used
// up. What a call makes the device deliver beyond its own ranges could warm those of later calls: a pilot tells how
// long a list may be.
type coldList struct {
	pages
	epochs draw.Epochs
	want   int64 // ranges of a list
}

const (
	coldListSpoilt = 0.01 // the share of the file that the calls of one list may deliver beyond their ranges
	listedShare    = 0.99 // the least share of calls that must meet the pages that the case promises
)

func (s *coldList) Drawer(int, *rand.PCG, draw.Gate) draw.Drawer { return draw.Listed{} }

func (s *coldList) Prepare(ctx context.Context) error {
	if err := s.enoughSlots(); err != nil {
		return err
	}
	s.epochs = draw.NewEpochs(s.Geometry.Slots, s.Config.Seed)
	s.want = min(s.Geometry.Slots, draw.ListLength)
	if s.Shape.Effect == shape.None {
		return nil
	}
	delivered, err := s.firstOps(ctx, s)
	if err != nil {
		return err
	}
	return s.shorten(float64(delivered))
}

// shorten takes account of what an op makes the device deliver.
func (s *coldList) shorten(delivered float64) error {
	row, f := s.Shape, s.Files[0]
	own := float64(row.Batch) * float64(row.MaxRange+2*f.PageSize())
	if delivered <= own {
		return nil
	}
	perOp := delivered - own
	ops := coldListSpoilt * float64(f.Size()) / perOp
	need := float64(fewestDraws * row.Threads)
	if ops < need {
		return s.Config.Blame(strategy.Unsupported("cold, threads=%d: one call makes the device deliver %.0f bytes more than were asked for (read-ahead), so %.0f calls would warm more than %.0f %% of the file; "+
			"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", row.Threads, perOp, need, 100*coldListSpoilt, config.Size(need*perOp/coldListSpoilt)>>20<<20+1<<20, config.EnvPrefix, config.EnvPrefix), config.FileAmount...)
	}
	s.want = min(s.want, int64(ops)*int64(row.Batch))
	return nil
}

func (s *coldList) Restore(ctx context.Context, _ Moment) error {
	if err := s.evict(ctx); err != nil {
		return err
	}
	s.List.DrawOnce(s.Shape, &s.Geometry, &s.epochs, s.want)
	return nil
}

func (s *coldList) Judge(res *result.Result) error {
	row := res.Shape
	if row.Effect == shape.None {
		return nil
	}
	if err := res.JudgeProbes(); err != nil {
		return err
	}
	if share := res.ColdShare(); share < listedShare {
		return fmt.Errorf("only %.1f %% of what was asked for was cold (%d of %d probes missed; the device delivered %d bytes, the ranges' pages have %.0f): %s",
			100*share, res.Counts.Missed, res.Counts.Probed, res.Counters.DeviceBytes, res.Touched(), s.Files.Blame("calls read ahead into ranges that came later"))
	}
	// A fault whose page arrives before the thread comes to wait for it counts as minor; that it was cold, the device tells.
	if faults := res.Counters.MajorFaults + res.Counters.MinorFaults; row.Effect == shape.Fault && float64(faults) < listedShare*float64(res.Ranges()) {
		return fmt.Errorf("%d page faults in %d touches of cold pages: they were not one each", faults, res.Ranges())
	}
	return nil
}
