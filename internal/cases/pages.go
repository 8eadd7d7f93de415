package cases

import (
	"context"
	"errors"
	"fmt"

	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

const (
	coldResident    = 0.001 // the share of pages that may stay after evicting
	coldDeviceShare = 0.9   // the least share of the pages touched that the device must have delivered
)

// pages evicts the files of a row: what all cold rows have in common.
type pages struct{ *Site }

// FaultStride is a page: a fault on one that is not there reads no other.
func (pages) FaultStride(page int) int { return page }

// enoughSlots returns an error if the file is too small for one op of each thread.
func (s pages) enoughSlots() error {
	row, file := s.Shape, s.Files[0]
	need, slots := int64(row.Threads*row.Batch), s.own(s.Geometry).Slots
	switch {
	case slots >= need:
	case row.Units > 0:
		return s.Config.Blame(strategy.Unsupported("cold, threads=%d: one op of each thread needs %d different units, %v have %d; take more data, fewer threads or smaller ops", row.Threads, need, s.Files, slots), config.UnitAmount...)
	default:
		return s.Config.Blame(strategy.Unsupported("cold, threads=%d: one op of each thread needs %d different places, %s has %d; take a file of %s or more (%sSIZE, or another %sFILE)",
			row.Threads, need, file.Path(), slots, config.Size(need*s.Geometry.SlotSize), config.EnvPrefix, config.EnvPrefix), config.FileAmount...)
	}
	return nil
}

// evict evicts the files, outside the timer.
func (s pages) evict(ctx context.Context) error { return s.evictFrom(ctx, 0) }

// evictFrom evicts each file from off to its end.
func (s pages) evictFrom(ctx context.Context, off int64) error {
	s.Evictions.Add()
	if s.Shape.Effect == shape.None {
		return nil
	}
	s.Machine.warmth = asFound
	if s.Peers != nil {
		if err := s.Peers.Drop(off); err != nil {
			return err
		}
	}
	for i, f := range s.Files {
		var opened strategy.Opened
		if len(s.Opened) > 0 {
			opened = s.Opened[i]
		}
		if err := s.evictFile(ctx, f, opened, off); err != nil {
			return err
		}
	}
	if s.Peers != nil {
		return s.Peers.Renew()
	}
	return nil
}

// Renew counts an eviction by a peer.
func (s pages) Renew() error {
	s.Evictions.Add()
	return nil
}

// evictFile evicts a file from off to its end; opened is what a strategy holds of it, or nil.
func (s pages) evictFile(ctx context.Context, f *files.File, opened strategy.Opened, off int64) error {
	defer notice.Slow("evicting %s", f.Path())()
	e := pagecache.Evictor{Off: off, Limit: coldResident}
	if !s.Machine.droppedAll && off == 0 { // else it would drop the part that is to stay
		e.DropAll = func() {
			notice.Printf("%s stays in the page cache: dropping the cache of the whole machine", f.Path())
		}
	}
	if m, ok := opened.(strategy.Mapper); ok {
		e.Unmap = func() error { return m.Drop(off, f.Size()-off) }
	}
	_, err := e.Evict(ctx, f.Control, f.Size())
	if errors.Is(err, pagecache.ErrUnsupported) {
		s.Machine.droppedAll = true // it does not help, and costs others their pages
	}
	return refused(s.Case, err)
}

// evictCounted is evictFrom, and looks whether the kernel counts what the device delivers then.
func (s pages) evictCounted(ctx context.Context, off int64) error {
	if err := s.evictFrom(ctx, off); err != nil {
		return err
	}
	return s.counted()
}

// firstOps evicts the file, and returns how many bytes the worst of a few ops then made the device deliver. state is the
// one that s is part of.
func (s pages) firstOps(ctx context.Context, state State) (delivered uint64, err error) {
	if err := s.evictCounted(ctx, 0); err != nil {
		return 0, err
	}
	if err := state.Restore(ctx, CallStart); err != nil {
		return 0, err
	}
	return s.Ops.Pilot()
}

// counted returns an error if the kernel does not count what this file's device delivers: then a cold row could
// not be told from any other.
func (s pages) counted() error {
	f := s.Files[0]
	source := evidence.Source{Proc: "/proc"}
	before, err := source.Read()
	if err != nil {
		return err
	}
	if _, err := f.Control.ReadAt(make([]byte, 1), f.Size()/2); err != nil {
		return err
	}
	after, err := source.Read()
	if err != nil {
		return err
	}
	if after.DeviceBytes == before.DeviceBytes {
		return strategy.Unsupported("%s: the kernel counted no device bytes when %s was read, after it was evicted: its file system does not count them; take one on a local disk", s.Case, f.Path())
	}
	return nil
}

// leftNothing returns an error if direct reads left pages in the page cache. Beside peers it cannot be told whose pages they are: that
// the device delivered what was read directly is all the evidence then.
func (s pages) leftNothing() error {
	if !s.Direct() || s.Peers != nil {
		return nil
	}
	r, err := s.Files.Resident()
	if err == nil && r.Share() > coldResident {
		err = fmt.Errorf("direct reads left %v: they went through the page cache", r)
	}
	return err
}

// judge returns an error if the device did not deliver what was read.
func (s pages) judge(res *result.Result) error {
	switch delivered, touched := float64(res.Counters.DeviceBytes), res.Touched(); {
	case res.Direct:
		return judgeDirect(res)
	case res.Shape.Effect == shape.Hint && res.Hints() > 0 && delivered == 0:
		return fmt.Errorf("%d calls hinted cold ranges, but the device delivered nothing", res.Hints())
	case delivered < coldDeviceShare*touched:
		return fmt.Errorf("pages of %.0f bytes were read cold, but the device delivered only %.0f: %s",
			touched, delivered, s.Files.Blame("reads were served from somewhere else"))
	}
	return nil
}
