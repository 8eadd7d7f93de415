// Package cases holds the states of the page cache in which rows are measured: hot, cold, mixedN, pressureN, a file each. A case
// brings the files into its state, keeps them there, says how ranges are drawn, and judges whether what was measured is what
// its name says. It talks to the runner by a Site and its three Ops, and does not know how ops are run.
package cases

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A Case is a state of the page cache in which a row is measured.
type Case interface {
	// Enter is called once a row, before the strategy is opened: of site there are Shape, Config, Files and Machine. A case that
	// takes a part of the only file puts it into Files.
	Enter(ctx context.Context, site *Site) (State, error)
}

// A State keeps one row in its case. The state of the pages and the order of the draws are one promise, so
// both are here. It may be an io.Closer.
type State interface {
	// FaultStride is how far apart the touches of a row of faults are, in bytes, so that each is one fault.
	FaultStride(page int) int
	// Drawer makes a worker's source of offsets.
	Drawer(worker int, rng *rand.PCG, gate draw.Gate) draw.Drawer
	// Prepare is called once, after the strategy and all readers were opened.
	Prepare(ctx context.Context) error
	// Restore brings the pages into the state of the case and verifies it. It is called before each call of a
	// row and at each end of an epoch, with no op under way and timer and counters stopped.
	Restore(ctx context.Context, when Moment) error
	// Renew begins anew after a peer has evicted the files. No op is under way.
	Renew() error
	// Judge returns an error if what was measured contradicts the name of the case. It adds its findings to res.
	Judge(res *result.Result) error
}

// A Moment is when a case's state is restored.
type Moment int

// The moments.
const (
	CallStart Moment = iota // before a call, measured or not
	EpochEnd                // in the middle of one
)

// A Site is the row that a case keeps, as the runner lays it before it.
type Site struct {
	Case    string // its name
	Shape   *shape.Shape
	Config  *config.Config
	Files   files.Set // the suite's, or a part of its only one
	Machine *Machine
	Peers   Peers // others that share the file, or nil

	Opened    []strategy.Opened // what the strategy holds of each file
	Batching  bool              // an op's ranges must be drawn together
	Geometry  draw.Geometry
	Evictions draw.Evictions
	List      *draw.List // of a predrawn row
	Ops       Ops
}

// Peers are other processes that hold the same files in the same case, and take turns with this one. None of them works while one of
// these is called.
type Peers interface {
	// Place is which of them this one is, 0 ≤ index < of.
	Place() (index, of int)
	// Drop has all others drop their mappings' pages of each file, from an offset on: the files are about to be evicted.
	Drop(from int64) error
	// Renew tells all others that the files were evicted.
	Renew() error
}

// errNotShared refuses a row that cannot be shared honestly.
func errNotShared(s *Site, why string) error {
	return strategy.Unsupported("%s: it cannot be shared by the contestants of a duel: %s; compare such rows by rounds (make bench)", s.Case, why)
}

// own is this one's part of places that nobody is to read twice.
func (s *Site) own(g draw.Geometry) draw.Geometry {
	if s.Peers == nil {
		return g
	}
	return g.Part(s.Peers.Place())
}

// share is this one's part of what all together may make the device deliver before the files are evicted.
func (s *Site) share() float64 {
	if s.Peers == nil {
		return 1
	}
	_, of := s.Peers.Place()
	return 1 / float64(of)
}

// Drop drops this one's mappings' pages of each file, from an offset on, for a peer that is about to evict them.
func (s *Site) Drop(from int64) error {
	for i, o := range s.Opened {
		if m, ok := o.(strategy.Mapper); ok {
			if err := m.Drop(from, s.Files[i].Size()-from); err != nil {
				return err
			}
		}
	}
	return nil
}

// Ops runs ops of the row outside of what is measured. The case has its state restored before.
type Ops interface {
	// Pilot runs a few ops with one worker and returns the bytes that the worst of them made the device deliver.
	Pilot() (delivered uint64, err error)
	// Until has all workers run ops as long as more says.
	Until(more func() bool) error
	// OnWorker runs f where a memory fault is an error.
	OnWorker(f func() error) error
}

// Direct reports whether reads bypass the page cache. The strategy is open.
func (s *Site) Direct() bool {
	_, ok := s.Opened[0].(strategy.Direct)
	return ok
}

// stripe is the part of the file that a worker scans.
func (s *Site) stripe(worker int) (from, to int64) {
	setup := strategy.Setup{Threads: s.Shape.Threads, MaxRange: s.Shape.MaxRange, Order: s.Shape.Order}
	return setup.Stripe(s.Files[0].File, worker)
}

// refused makes a refusal of the page cache one that skips the row.
func refused(pageCase string, err error) error {
	if errors.Is(err, pagecache.ErrUnsupported) {
		return strategy.Unsupported("%s: %w", pageCase, err)
	}
	return err
}

// directShare is the least share of the bytes that direct reads must make the device deliver, in every case.
const directShare = 0.9

// judgeDirect is Judge for reads that bypass the page cache: they are device reads in every case.
func judgeDirect(res *result.Result) error {
	if float64(res.Counters.DeviceBytes) < directShare*float64(res.Bytes()) {
		return fmt.Errorf("%d bytes were read directly, but the device delivered only %d: these reads did not bypass the page cache", res.Bytes(), res.Counters.DeviceBytes)
	}
	return nil
}
