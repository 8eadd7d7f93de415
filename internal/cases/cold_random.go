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

const (
	coldEpochAim   = 0.09 // the share of the file that the pilot lets an epoch deliver
	coldEpochShare = 0.10 // the resident share at the end of an epoch above which the next one is made shorter
	coldEpochLimit = 0.12 // the resident share at the end of an epoch above which the row fails

	fewestDraws = 2 // draws per worker and epoch, below which workers would wait more than read
	goodDraws   = 8 // draws per worker and epoch that are aimed at, by drawing fewer slots at a time
)

// coldState: the file is evicted, slots are drawn without replacement, and before read-ahead can have warmed more
// than a tenth of the rest the file is evicted again.
type coldState struct {
	pages
	want  int64 // slots of an epoch, as the pilot said; less if an epoch showed that to be too many
	need  int64 // slots that an epoch must have at least
	stock draw.Stock

	looked int64   // the epoch whose end was looked at
	worst  float64 // largest resident share at the end of an epoch of this call
}

func (s *coldState) Drawer(_ int, _ *rand.PCG, gate draw.Gate) draw.Drawer {
	return draw.NewWithoutReplacement(s.own(s.Geometry), &s.stock, gate, &s.Evictions)
}

// Prepare finds out how many slots an epoch may have, by running one op on an evicted file.
func (s *coldState) Prepare(ctx context.Context) error {
	row := s.Shape
	if err := s.enoughSlots(); err != nil {
		return err
	}
	slots := s.own(s.Geometry).Slots
	s.stock.Init(draw.NewEpochs(slots, s.Config.Seed), row.Threads, row.Batch)
	s.want = slots
	if row.Effect == shape.None {
		return nil
	}
	delivered, err := s.firstOps(ctx, s)
	if err != nil {
		return err
	}
	s.looked = s.Evictions.N() // the pilot's ops are no epoch: there may have been more of them than fit one
	if delivered > 0 {
		ops := coldEpochAim * s.share() * float64(s.Files.Size()) / float64(delivered)
		s.want = min(s.want, int64(ops*float64(row.Batch)))
	}
	return s.setGrain(delivered)
}

// setGrain makes draws so small that each worker gets several in an epoch.
func (s *coldState) setGrain(delivered uint64) error {
	threads, batch := int64(s.Shape.Threads), int64(s.Shape.Batch)
	grain, fewest := batch, int64(1)
	if !s.Batching {
		grain = min(batch, max(1, s.want/(threads*goodDraws)))
		fewest = fewestDraws
	}
	s.stock.SetGrain(int(grain))
	s.need = grain * threads * fewest
	return s.enough(float64(delivered) / float64(batch))
}

// enough returns an error if an epoch is too short to give every worker its share.
func (s *coldState) enough(bytesPerRead float64) error {
	if s.want >= s.need {
		return nil
	}
	const mib = 1 << 20
	if s.Shape.Units > 0 {
		all := float64(s.Files.Size())
		remedy := "take more data, fewer threads or smaller ops"
		if !s.Direct() {
			remedy += ", or lower read_ahead_kb"
		}
		return s.Config.Blame(strategy.Unsupported("cold, threads=%d: an op makes the device deliver %.0f bytes, so one of each thread would warm more than %.0f %% of the %.0f bytes of %v; %s",
			s.Shape.Threads, min(all, bytesPerRead*float64(s.Shape.Batch)), 100*coldEpochAim, all, s.Files, remedy), config.UnitAmount...)
	}
	size := config.Size(bytesPerRead * float64(s.need) / coldEpochAim)
	return s.Config.Blame(strategy.Unsupported("cold, threads=%d: one read makes the device deliver %.0f bytes (read-ahead), so %d reads would warm more than %.0f %% of the file; "+
		"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", s.Shape.Threads, bytesPerRead, s.need, 100*coldEpochAim, (size+mib)/mib*mib, config.EnvPrefix, config.EnvPrefix), config.FileAmount...)
}

func (s *coldState) Restore(ctx context.Context, when Moment) error {
	if err := s.endEpoch(); err != nil {
		return err
	}
	if when == CallStart {
		s.worst = 0
	}
	if err := s.evict(ctx); err != nil {
		return err
	}
	s.stock.Renew(s.want)
	return nil
}

// Renew begins an epoch after a peer has evicted the files.
func (s *coldState) Renew() error {
	s.stock.Renew(s.want)
	return s.pages.Renew()
}

// endEpoch looks how much of the file the epoch made resident: what the pilot could not foresee.
func (s *coldState) endEpoch() error {
	if s.looked == s.Evictions.N() || !s.stock.Used() || s.Shape.Effect == shape.None {
		return nil
	}
	s.looked = s.Evictions.N()
	r, err := s.Files.Resident()
	if err != nil {
		return err
	}
	s.worst = max(s.worst, r.Share())
	if err := s.leftNothing(); err != nil {
		return err
	}
	if r.Share() > coldEpochShare {
		perRead := r.Share() * float64(s.Files.Size()) / float64(s.want)
		s.want = int64(float64(s.want) * coldEpochAim / r.Share())
		return s.enough(perRead)
	}
	return nil
}

func (s *coldState) Judge(res *result.Result) error {
	if res.Shape.Effect == shape.None {
		return nil
	}
	if err := s.endEpoch(); err != nil {
		return err
	}
	if res.EpochShare = s.worst; s.worst > coldEpochLimit {
		return fmt.Errorf("at the end of an epoch %.1f %% of the file were in the page cache, more than %.0f %%: the epoch's later reads were not cold: %s",
			100*s.worst, 100*coldEpochLimit, s.Files.Blame("more is read ahead than the first reads showed"))
	}
	return s.pages.judge(res)
}
