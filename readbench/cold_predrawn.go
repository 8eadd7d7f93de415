package readbench

import (
	"context"
	"fmt"
)

// coldList: the ranges of a list lie in slots of which none comes twice, and the file is evicted when the list is used
// up. What a call makes the device deliver beyond its own ranges could warm those of later calls: a pilot tells how
// long a list may be.
type coldList struct {
	coldPages
	epochs
	want int64 // ranges of a list
}

const (
	coldListSpoilt = 0.01 // the share of the file that the calls of one list may deliver beyond their ranges
	listedShare    = 0.99 // the least share of calls that must meet the pages that the case promises
)

func (s *coldList) drawer(*Worker) drawer { return notDrawn{} }

func (s *coldList) prepare(ctx context.Context) error {
	if err := s.enoughSlots(); err != nil {
		return err
	}
	s.epochs = epochs{slots: s.run.slots, seed: s.run.suite.config.Seed}
	s.want = min(s.run.slots, listLength)
	if s.run.row.Effect == EffectNone {
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
	row, f := &s.run.row, s.run.files[0]
	own := float64(row.Batch) * float64(row.MaxRange+2*f.page)
	if delivered <= own {
		return nil
	}
	perOp := delivered - own
	ops := coldListSpoilt * float64(f.size) / perOp
	need := float64(fewestDraws * row.Threads)
	if ops < need {
		return s.run.suite.config.Blame(Unsupported("cold, threads=%d: one call makes the device deliver %.0f bytes more than were asked for (read-ahead), so %.0f calls would warm more than %.0f %% of the file; "+
			"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", row.Threads, perOp, need, 100*coldListSpoilt, Size(need*perOp/coldListSpoilt)>>20<<20+1<<20, EnvPrefix, EnvPrefix), fileAmount...)
	}
	s.want = min(s.want, int64(ops)*int64(row.Batch))
	return nil
}

func (s *coldList) restore(ctx context.Context, _ moment) error {
	if err := s.evict(ctx); err != nil {
		return err
	}
	return s.run.drawList(&s.epochs, s.want)
}

func (s *coldList) judge(res *result) error {
	row := res.row
	if row.Effect == EffectNone {
		return nil
	}
	if err := res.judgeProbes(); err != nil {
		return err
	}
	if share := res.coldShare(); share < listedShare {
		return fmt.Errorf("only %.1f %% of what was asked for was cold (%d of %d probes missed; the device delivered %d bytes, the ranges' pages have %.0f): %s",
			100*share, res.counts.Missed, res.counts.Probed, res.counters.DeviceBytes, res.touched(), s.run.files.blame("calls read ahead into ranges that came later"))
	}
	// A fault whose page arrives before the thread comes to wait for it counts as minor; that it was cold, the device tells.
	if faults := res.counters.MajorFaults + res.counters.MinorFaults; row.Effect == EffectFault && float64(faults) < listedShare*float64(res.ranges()) {
		return fmt.Errorf("%d page faults in %d touches of cold pages: they were not one each", faults, res.ranges())
	}
	return nil
}
