package readbench

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"sync/atomic"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/permute"
)

// coldCase: no page of the file is in the page cache when it is read. The file is evicted, slots are drawn without
// replacement, and before read-ahead can have warmed more than a tenth of the rest the file is evicted again.
type coldCase struct{}

const (
	coldResident    = 0.001 // the share of pages that may stay after evicting
	coldEpochAim    = 0.09  // the share of the file that the pilot lets an epoch deliver
	coldEpochShare  = 0.10  // the resident share at the end of an epoch above which the next one is made shorter
	coldEpochLimit  = 0.12  // the resident share at the end of an epoch above which the row fails
	coldDeviceShare = 0.9   // the least share of the pages touched that the device must have delivered

	fewestDraws  = 2   // draws per worker and epoch, below which workers would wait more than read
	goodDraws    = 8   // draws per worker and epoch that are aimed at, by drawing fewer slots at a time
	leases       = 128 // leases per worker and epoch that are aimed at
	longestLease = 64  // draws of one lease at the most
)

// coldState: an epoch is the stretch [base, base+limit) of the positions of a permutation of all slots; next is
// what of it has been handed out.
type coldState struct {
	run   *running
	want  int64 // slots of an epoch, as the pilot said; less if an epoch showed that to be too many
	need  int64 // slots that an epoch must have at least
	pass  uint64
	perm  permute.Permutation // of the present pass over the file
	epoch int64               // its number
	base  int64
	limit int64
	lease int64 // positions that a worker takes at a time, so that not every draw writes to next
	_     cpu.CacheLinePad
	next  atomic.Int64 // what workers write, away from what they read
	_     cpu.CacheLinePad

	looked int64   // the epoch whose end was looked at
	worst  float64 // largest resident share at the end of an epoch of this call
}

func (coldCase) enter(_ context.Context, r *running) (caseState, error) {
	return &coldState{run: r}, nil
}

func (s *coldState) drawer(w *Worker) drawer {
	return &withoutReplacement{geometry: s.run.geometry, s: s, w: w}
}

// prepare finds out how many slots an epoch may have, by running one op on an evicted file.
func (s *coldState) prepare(ctx context.Context) error {
	row, file := &s.run.row, s.run.suite.file
	if need := int64(row.Threads * row.Batch); s.run.slots < need {
		return Unsupported("cold, threads=%d: one op of each needs %d different places, %s has %d; take a file of %s or more (%sSIZE, or another %sFILE)",
			row.Threads, need, file.path, s.run.slots, Size(need*s.run.slotSize), EnvPrefix, EnvPrefix)
	}
	s.want = s.run.slots
	if row.BytesPerOp == 0 {
		return nil
	}
	if err := errors.Join(s.evict(ctx), s.counted()); err != nil {
		return err
	}
	if err := s.restore(ctx, callStart); err != nil {
		return err
	}
	delivered, err := s.run.pilot()
	if err != nil {
		return err
	}
	if delivered > 0 {
		ops := coldEpochAim * float64(file.size) / float64(delivered)
		s.want = min(s.want, int64(ops*float64(row.Batch)))
	}
	return s.setGrain(delivered)
}

// counted returns an error if the kernel does not count what this file's device delivers: then a cold row could
// not be told from any other.
func (s *coldState) counted() error {
	f := s.run.suite.file
	s.run.meter.Reset()
	if err := s.run.meter.Start(); err != nil {
		return err
	}
	_, readErr := f.control.ReadAt(make([]byte, 1), f.size/2)
	if err := errors.Join(readErr, s.run.meter.Stop()); err != nil {
		return err
	}
	if s.run.meter.Sum().DeviceBytes == 0 {
		return Unsupported("cold: the kernel counted no device bytes when %s was read, after it was evicted: its file system does not count them; take one on a local disk", f.path)
	}
	return nil
}

// setGrain makes draws so small that each worker gets several in an epoch.
func (s *coldState) setGrain(delivered uint64) error {
	threads, batch := int64(s.run.row.Threads), int64(s.run.row.Batch)
	grain, fewest := batch, int64(1)
	if !s.run.batching() {
		grain = min(batch, max(1, s.want/(threads*goodDraws)))
		fewest = fewestDraws
	}
	s.run.grain = int(grain)
	s.need = grain * threads * fewest
	return s.enough(float64(delivered) / float64(batch))
}

// enough returns an error if an epoch is too short to give every worker its share.
func (s *coldState) enough(bytesPerRead float64) error {
	if s.want >= s.need {
		return nil
	}
	const mib = 1 << 20
	size := Size(bytesPerRead * float64(s.need) / coldEpochAim)
	return Unsupported("cold, threads=%d: one read makes the device deliver %.0f bytes (read-ahead), so %d reads would warm more than %.0f %% of the file; "+
		"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", s.run.row.Threads, bytesPerRead, s.need, 100*coldEpochAim, (size+mib)/mib*mib, EnvPrefix, EnvPrefix)
}

func (s *coldState) restore(ctx context.Context, when moment) error {
	if err := s.endEpoch(); err != nil {
		return err
	}
	if when == callStart {
		s.worst = 0
	}
	if err := s.evict(ctx); err != nil {
		return err
	}
	s.nextEpoch()
	return nil
}

// nextEpoch goes on in the permutation, or begins another one: there is no short epoch at the end of a pass
// over the file.
func (s *coldState) nextEpoch() {
	s.base += s.limit
	limit, ok := int64(0), false
	if s.pass > 0 {
		limit, ok = s.stretch()
	}
	if !ok {
		s.pass++
		s.perm = permute.New(uint64(s.run.slots), s.run.suite.config.Seed+s.pass)
		s.base = 0
		limit, _ = s.stretch() // a whole pass has all the slots that can be wanted
	}
	s.limit = limit
	s.lease = max(1, min(longestLease*int64(s.run.grain), limit/(int64(s.run.row.Threads)*leases)))
	s.next.Store(0)
	s.epoch++
}

// stretch is how many positions from base on hold the slots that are wanted; ok is false if there are not so many left.
func (s *coldState) stretch() (positions int64, ok bool) {
	left := int64(s.perm.Positions()) - s.base
	const long = 1 << 17
	if s.want > long { // the law of large numbers is exact enough
		positions = int64(float64(s.want) / float64(s.run.slots) * float64(s.perm.Positions()))
		return min(positions, left), positions <= left
	}
	slots := int64(0)
	for ; positions < left && slots < s.want; positions++ {
		if slot, _ := s.perm.At(uint64(s.base + positions)); slot < uint64(s.run.slots) {
			slots++
		}
	}
	return positions, slots == s.want
}

// endEpoch looks how much of the file the epoch made resident: what the pilot could not foresee.
func (s *coldState) endEpoch() error {
	if s.looked == s.epoch || s.next.Load() == 0 || s.run.row.BytesPerOp == 0 {
		return nil
	}
	s.looked = s.epoch
	f := s.run.suite.file
	r, err := pagecache.Resident(f.control, 0, f.size)
	if err != nil {
		return err
	}
	s.worst = max(s.worst, r.Share())
	switch {
	case s.run.direct() && r.Share() > coldResident:
		return fmt.Errorf("direct reads left %v: they went through the page cache", r)
	case r.Share() > coldEpochShare:
		perRead := r.Share() * float64(f.size) / float64(s.want)
		s.want = int64(float64(s.want) * coldEpochAim / r.Share())
		return s.enough(perRead)
	}
	return nil
}

func (s *coldState) evict(ctx context.Context) error {
	f := s.run.suite.file
	if s.run.row.BytesPerOp == 0 {
		return nil
	}
	defer notice.Slow("evicting %s", f.path)()
	e := pagecache.Evictor{Limit: coldResident}
	if !s.run.suite.droppedAll {
		e.DropAll = func() {
			notice.Printf("%s stays in the page cache: dropping the cache of the whole machine", f.path)
		}
	}
	if m, ok := s.run.opened.(Mapper); ok {
		e.Unmap = m.Drop
	}
	_, err := e.Evict(ctx, f.control, f.size)
	if errors.Is(err, pagecache.ErrUnsupported) {
		s.run.suite.droppedAll = true // it does not help, and costs others their pages
	}
	return refused("cold", err)
}

func (s *coldState) judge(res *result) error {
	if s.run.row.BytesPerOp == 0 {
		return nil
	}
	if err := s.endEpoch(); err != nil {
		return err
	}
	res.epochShare = s.worst
	switch delivered, touched := float64(res.counters.DeviceBytes), res.touched(); {
	case s.worst > coldEpochLimit:
		return fmt.Errorf("at the end of an epoch %.1f %% of the file were in the page cache, more than %.0f %%: the epoch's later reads were not cold",
			100*s.worst, 100*coldEpochLimit)
	case res.direct:
		return judgeDirect(res)
	case delivered < coldDeviceShare*touched:
		return fmt.Errorf("pages of %.0f bytes were read cold, but the device delivered only %.0f: reads were served from somewhere else (or the file has extents that were never written)",
			touched, delivered)
	}
	return nil
}

// withoutReplacement takes the next slots of the epoch, or waits for the next epoch.
type withoutReplacement struct {
	_ cpu.CacheLinePad
	geometry
	s       *coldState
	w       *Worker
	epoch   int64 // that the lease belongs to
	at, end int64 // what is left of the lease
	_       cpu.CacheLinePad
}

func (d *withoutReplacement) draw(rs []Range) error {
	if len(rs) > d.w.run.grain {
		return fmt.Errorf("an op draws %d ranges at once, more than the %d of Worker.Grain", len(rs), d.w.run.grain)
	}
	for {
		if d.epoch == d.s.epoch && d.fill(rs) {
			return nil
		}
		// The epoch is used up, and what was filled is dropped with it.
		if d.epoch == d.s.epoch {
			if err := d.w.pause(); err != nil {
				return err
			}
		}
		d.epoch, d.at, d.end = d.s.epoch, 0, 0
	}
}

// fill draws from the present epoch; it reports whether there was enough.
func (d *withoutReplacement) fill(rs []Range) bool {
	s := d.s
	perm, slots := s.perm, uint64(d.slots)
	for n := 0; n < len(rs); {
		if d.at == d.end {
			at := s.next.Add(s.lease) - s.lease
			if at >= s.limit {
				return false
			}
			d.at, d.end = s.base+at, s.base+min(at+s.lease, s.limit)
		}
		at := d.at
		for ; at < d.end && n < len(rs); at++ {
			slot, rest := perm.At(uint64(at))
			rs[n].Off = d.offset(int64(slot), rest) // where in the slot's first page depends on the slot and the pass only
			_, isSlot := bits.Sub64(slot, slots, 0) // 1 if slot < slots, without a branch
			n += int(isSlot)
		}
		d.at = at
	}
	return true
}
