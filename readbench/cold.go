package readbench

import (
	"context"
	"errors"
	"fmt"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
)

// coldCase: no page of the file is in the page cache when it is asked for. How that is kept up while the row runs
// depends on the order of the row: coldState for random reads, coldScan for scans, coldList for predrawn rows.
type coldCase struct{}

const (
	coldResident    = 0.001 // the share of pages that may stay after evicting
	coldDeviceShare = 0.9   // the least share of the pages touched that the device must have delivered
)

func (coldCase) enter(_ context.Context, r *running) (caseState, error) {
	if err := r.onDevice("cold"); err != nil {
		return nil, err
	}
	pages := coldPages{r}
	switch {
	case r.row.Predrawn:
		return &coldList{coldPages: pages}, nil
	case r.row.Order == OrderSequential:
		return &coldScan{coldPages: pages}, nil
	}
	return &coldState{coldPages: pages}, nil
}

// coldPages is what all cold rows have in common.
type coldPages struct{ run *running }

// enoughSlots returns an error if the file is too small for one op of each thread.
func (s coldPages) enoughSlots() error {
	row, file := &s.run.row, s.run.files[0]
	need := int64(row.Threads * row.Batch)
	switch {
	case s.run.slots >= need:
	case row.Units > 0:
		return s.run.suite.config.Blame(Unsupported("cold, threads=%d: one op of each thread needs %d different units, %v have %d; take more data, fewer threads or smaller ops", row.Threads, need, s.run.files, s.run.slots), unitAmount...)
	default:
		return s.run.suite.config.Blame(Unsupported("cold, threads=%d: one op of each thread needs %d different places, %s has %d; take a file of %s or more (%sSIZE, or another %sFILE)",
			row.Threads, need, file.path, s.run.slots, Size(need*s.run.slotSize), EnvPrefix, EnvPrefix), fileAmount...)
	}
	return nil
}

// evict evicts the files, outside the timer.
func (s coldPages) evict(ctx context.Context) error { return s.evictFrom(ctx, 0) }

// evictFrom evicts each file from off to its end.
func (s coldPages) evictFrom(ctx context.Context, off int64) error {
	s.run.epoch++
	s.run.suite.warmth = asFound
	if s.run.row.Effect == EffectNone {
		return nil
	}
	for i, f := range s.run.files {
		var opened Opened
		if len(s.run.opened) > 0 {
			opened = s.run.opened[i]
		}
		if err := s.evictFile(ctx, f, opened, off); err != nil {
			return err
		}
	}
	return nil
}

// evictFile evicts a file from off to its end; opened is what a strategy holds of it, or nil.
func (s coldPages) evictFile(ctx context.Context, f *File, opened Opened, off int64) error {
	defer notice.Slow("evicting %s", f.path)()
	e := pagecache.Evictor{Off: off, Limit: coldResident}
	if !s.run.suite.droppedAll && off == 0 { // else it would drop the part that is to stay
		e.DropAll = func() {
			notice.Printf("%s stays in the page cache: dropping the cache of the whole machine", f.path)
		}
	}
	if m, ok := opened.(Mapper); ok {
		e.Unmap = func() error { return m.Drop(off, f.size-off) }
	}
	_, err := e.Evict(ctx, f.control, f.size)
	if errors.Is(err, pagecache.ErrUnsupported) {
		s.run.suite.droppedAll = true // it does not help, and costs others their pages
	}
	return refused(s.run.row.Case, err)
}

// evictCounted is evictFrom, and looks whether the kernel counts what the device delivers then.
func (s coldPages) evictCounted(ctx context.Context, off int64) error {
	if err := s.evictFrom(ctx, off); err != nil {
		return err
	}
	return s.counted()
}

// firstOps evicts the file, and returns how many bytes the worst of a few ops then made the device deliver. state is the
// one that s is part of.
func (s coldPages) firstOps(ctx context.Context, state caseState) (delivered uint64, err error) {
	if err := s.evictCounted(ctx, 0); err != nil {
		return 0, err
	}
	if err := state.restore(ctx, callStart); err != nil {
		return 0, err
	}
	return s.run.pilot()
}

// counted returns an error if the kernel does not count what this file's device delivers: then a cold row could
// not be told from any other.
func (s coldPages) counted() error {
	f := s.run.files[0]
	s.run.meter.Reset()
	if err := s.run.meter.Start(); err != nil {
		return err
	}
	_, readErr := f.control.ReadAt(make([]byte, 1), f.size/2)
	if err := errors.Join(readErr, s.run.meter.Stop()); err != nil {
		return err
	}
	if s.run.meter.Sum().DeviceBytes == 0 {
		return Unsupported("%s: the kernel counted no device bytes when %s was read, after it was evicted: its file system does not count them; take one on a local disk", s.run.row.Case, f.path)
	}
	return nil
}

// leftNothing returns an error if direct reads left pages in the page cache.
func (s coldPages) leftNothing() error {
	if !s.run.direct() {
		return nil
	}
	r, err := s.run.files.resident()
	if err == nil && r.Share() > coldResident {
		err = fmt.Errorf("direct reads left %v: they went through the page cache", r)
	}
	return err
}

// judge returns an error if the device did not deliver what was read.
func (s coldPages) judge(res *result) error {
	switch delivered, touched := float64(res.counters.DeviceBytes), res.touched(); {
	case res.direct:
		return judgeDirect(res)
	case res.row.Effect == EffectHint && res.hints() > 0 && delivered == 0:
		return fmt.Errorf("%d calls hinted cold ranges, but the device delivered nothing", res.hints())
	case delivered < coldDeviceShare*touched:
		return fmt.Errorf("pages of %.0f bytes were read cold, but the device delivered only %.0f: %s",
			touched, delivered, s.run.files.blame("reads were served from somewhere else"))
	}
	return nil
}
