package readbench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/permute"
)

// coldCase: no page of the file is in the page cache when it is read. The file is evicted, slots are drawn without
// replacement, and before read-ahead can have warmed more than a tenth of the rest the file is evicted again.
type coldCase struct{}

const (
	coldResident    = 0.001 // the share of pages that may stay after evicting
	coldEpochShare  = 0.10  // the share of the file that may be delivered in one epoch
	coldEpochLimit  = 0.15  // the resident share at the end of an epoch above which the row fails
	coldDeviceShare = 0.9   // the least share of the bytes read that the device must have delivered
	fewestDraws     = 2     // draws per worker and epoch, below which workers would wait more than read
	goodDraws       = 8     // draws per worker and epoch that are aimed at, by drawing fewer slots at a time
)

// coldState: an epoch is the stretch [base, base+limit) of a permutation of all slots, handed out in the order of next.
type coldState struct {
	run   *running
	pass  uint64 // permutations used up so far
	perm  permute.Permutation
	base  int64
	limit int64
	next  atomic.Int64
	want  int64   // slots of an epoch, as the pilot said; less if an epoch showed that to be too many
	worst float64 // largest resident share at the end of an epoch
}

func (coldCase) enter(_ context.Context, r *running) (caseState, error) {
	return &coldState{run: r}, nil
}

func (s *coldState) drawer(w *Worker) drawer { return &withoutReplacement{s, w} }

// prepare finds out how many slots an epoch may have, by running one op on an evicted file.
func (s *coldState) prepare(ctx context.Context) error {
	s.want = s.run.slots
	if need := int64(s.run.row.Threads * s.run.row.Batch); s.run.slots < need {
		return Unsupported("cold with %d threads: an op of each needs %d different places, %s has %d; set %sSIZE to %s or more",
			s.run.row.Threads, need, s.run.suite.file.path, s.run.slots, EnvPrefix, Size(need*s.run.slotSize))
	}
	if s.run.row.BytesPerOp == 0 { // nothing is read
		return nil
	}
	if err := s.restore(ctx); err != nil {
		return err
	}
	delivered, err := s.run.pilot()
	if err != nil {
		return err
	}
	perOp := int64(s.run.row.Batch)
	if delivered > 0 {
		s.want = min(s.want, int64(coldEpochShare*float64(s.run.suite.file.size)/float64(delivered)*float64(perOp)))
	}
	return s.setGrain(int64(delivered))
}

// setGrain makes draws so small that each worker gets several in an epoch.
func (s *coldState) setGrain(delivered int64) error {
	threads, batch := int64(s.run.row.Threads), int64(s.run.row.Batch)
	grain, fewest := batch, int64(1)
	if !s.run.batching() {
		grain = min(batch, max(1, s.want/(threads*goodDraws)))
		fewest = fewestDraws
	}
	s.run.grain = int(grain)
	if need := grain * threads * fewest; s.want < need {
		size := Size(float64(delivered) / float64(batch) * float64(need) / coldEpochShare)
		const mib = 1 << 20
		return Unsupported("cold with %d threads: one read makes the device deliver %d bytes (read-ahead), so %d reads would warm more than %.0f %% of the file; "+
			"set %sSIZE to %s or more, or lower read_ahead_kb", threads, delivered/batch, need, 100*coldEpochShare, EnvPrefix, (size+mib)/mib*mib)
	}
	return nil
}

func (s *coldState) restore(ctx context.Context) error {
	if err := s.endEpoch(); err != nil {
		return err
	}
	if err := s.evict(ctx); err != nil {
		return err
	}
	if s.pass == 0 || s.base+s.limit+int64(s.run.grain) > s.run.slots {
		s.pass++
		s.perm = permute.New(uint64(s.run.slots), s.run.suite.config.Seed+s.pass)
		s.base = 0
	} else {
		s.base += s.limit
	}
	s.limit = min(s.want, s.run.slots-s.base)
	s.next.Store(0)
	return nil
}

// endEpoch looks how much of the file the epoch made resident: what the pilot could not foresee.
func (s *coldState) endEpoch() error {
	if s.next.Load() == 0 || s.run.row.BytesPerOp == 0 {
		return nil
	}
	f := s.run.suite.file
	r, err := pagecache.Resident(f.control, 0, f.size)
	if err != nil {
		return err
	}
	s.worst = max(s.worst, r.Share())
	switch {
	case s.run.direct() && r.Share() > coldResident:
		return fmt.Errorf("direct reads left %v: they went through the page cache", r)
	case r.Share() > coldEpochLimit:
		return fmt.Errorf("at the end of a cold epoch %v: later reads of it were not cold", r)
	case r.Share() > coldEpochShare:
		s.want = max(1, int64(float64(s.want)*coldEpochShare/r.Share()))
	}
	return nil
}

func (s *coldState) evict(ctx context.Context) error {
	f := s.run.suite.file
	if s.run.row.BytesPerOp == 0 {
		return nil
	}
	defer notice.Slow("evicting %s", f.path)()
	e := pagecache.Evictor{Limit: coldResident, DropAll: true}
	if m, ok := s.run.opened.(Mapper); ok {
		e.Unmap = m.Drop
	}
	_, err := e.Evict(ctx, f.control, f.size)
	if errors.Is(err, pagecache.ErrUnsupported) {
		return Unsupported("cold: %w", err)
	}
	return err
}

func (s *coldState) judge(res *result) error {
	if s.run.row.BytesPerOp == 0 {
		return nil
	}
	if err := s.endEpoch(); err != nil {
		return err
	}
	res.epochShare = s.worst
	if float64(res.counters.DeviceBytes) < coldDeviceShare*float64(res.bytes()) {
		return fmt.Errorf("%d bytes were read cold, but the device delivered only %d: the reads were served from somewhere else", res.bytes(), res.counters.DeviceBytes)
	}
	return nil
}

// withoutReplacement takes the next slots of the epoch, or waits for the next epoch.
type withoutReplacement struct {
	s *coldState
	w *Worker
}

func (d *withoutReplacement) draw(slots []int64) error {
	s, n := d.s, int64(len(slots))
	for {
		at := s.next.Add(n) - n
		if at+n <= s.limit {
			for i := range slots {
				slots[i] = int64(s.perm.At(uint64(s.base + at + int64(i))))
			}
			return nil
		}
		if err := d.w.pause(); err != nil {
			return err
		}
	}
}
