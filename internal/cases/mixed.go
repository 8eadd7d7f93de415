package cases

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// mixedCase: a set share of the reads, in percent, meets cold pages, for as long as one likes. The first half of the
// file is resident, and its slots are drawn with replacement; the second half is evicted, and its slots are drawn
// without replacement and evicted again when they are used up. Each hundred reads of a worker have as many cold ones
// as the share says, at random places among them.
type mixedCase struct{ percent int }

const (
	mixedTolerance = 0.01    // how far the measured share of cold reads may be off, at most; a tenth of it for small shares
	mixedBorder    = 2 << 20 // the halves meet at a multiple of it: no folio is larger
)

// parseMixed is the case of a name such as mixed10; ok is false if it is none.
func parseMixed(name string) (c mixedCase, ok bool) {
	digits, ok := strings.CutPrefix(name, "mixed")
	n, err := strconv.Atoi(digits)
	return mixedCase{n}, ok && err == nil && n >= 1 && n <= 99 && digits == strconv.Itoa(n)
}

func (c mixedCase) name() string { return fmt.Sprintf("mixed%d", c.percent) }

func (c mixedCase) Enter(_ context.Context, site *Site) (State, error) {
	if site.Shape.Order != strategy.OrderRandom || site.Shape.Predrawn || site.Shape.Units > 0 || site.Shape.Effect != shape.Read && site.Shape.Effect != shape.None {
		return nil, site.Config.Blame(strategy.Unsupported("%s: it is a case of random reads only, at places that the core draws; leave it out here", c.name()), "CASES")
	}
	if err := site.Machine.OnDevice(c.name(), site.Shape); err != nil {
		return nil, err
	}
	return &mixedState{mixedCase: c, pages: pages{site}}, nil
}

// mixedState: border is where the resident part ends and the evicted one begins.
type mixedState struct {
	mixedCase
	pages
	border    int64
	hot, cold draw.Geometry
	stock     draw.Stock // of the evicted part
	want      int64      // slots of an epoch
	drawers   []*draw.Mixed
	evicted   float64      // bytes of the evicted part
	held      *mapping.Map // the resident part, if the strategy does not map
}

func (s *mixedState) Drawer(_ int, rng *rand.PCG, gate draw.Gate) draw.Drawer {
	d := draw.NewMixed(s.percent, s.Shape.Batch, &s.stock, rng, gate, &s.Evictions) // where the parts lie is set when the row is prepared
	s.drawers = append(s.drawers, d)
	return d
}

// split cuts the file in two.
func (s *mixedState) split() error {
	g, f := s.Geometry, s.Files[0]
	s.border = f.Size() / 2 / mixedBorder * mixedBorder
	if s.border == 0 {
		s.border = f.Size() / 2 / int64(f.PageSize()) * int64(f.PageSize())
	}
	s.hot, s.cold = g, g
	s.hot.Slots = s.border / g.SlotSize
	first := (s.border + g.SlotSize - 1) / g.SlotSize
	s.cold.Base, s.cold.Slots = first*g.SlotSize, f.Size()/g.SlotSize-first
	if s.Shape.Effect == shape.None {
		s.hot.Slots, s.cold.Slots = g.Slots/2, g.Slots/2
	}
	s.evicted = float64(f.Size() - s.cold.Base)
	s.cold = s.own(s.cold)
	if need := int64(s.Shape.Threads * s.Shape.Batch); s.hot.Slots < 1 || s.cold.Slots < need {
		return s.Config.Blame(strategy.Unsupported("%s, threads=%d: an op of each thread may need %d different places in the evicted half, %s has %d; take a file of %s or more (%sSIZE, or another %sFILE)",
			s.name(), s.Shape.Threads, need, f.Path(), s.cold.Slots, config.Size(2*need*g.SlotSize+2*mixedBorder), config.EnvPrefix, config.EnvPrefix), config.FileAmount...)
	}
	return nil
}

// Prepare measures with one cold op how much a cold read makes the device deliver beyond its own pages: what warms
// later ones.
func (s *mixedState) Prepare(ctx context.Context) error {
	if err := s.split(); err != nil {
		return err
	}
	for _, d := range s.drawers {
		d.SetParts(s.hot, s.cold)
	}
	s.stock.Init(draw.NewEpochs(s.cold.Slots, s.Config.Seed), s.Shape.Threads, s.Shape.Batch)
	s.want = s.cold.Slots
	if s.Shape.Effect == shape.None {
		return s.Restore(ctx, CallStart)
	}
	if err := s.warm(ctx); err != nil {
		return err
	}
	if err := s.evictCounted(ctx, s.border); err != nil {
		return err
	}
	if err := s.Restore(ctx, CallStart); err != nil {
		return err
	}
	if s.Direct() {
		return nil
	}
	for _, d := range s.drawers {
		d.SetPercent(100) // the pilot's reads are all cold
		defer d.SetPercent(s.percent)
	}
	delivered, err := s.Ops.Pilot()
	if err != nil {
		return err
	}
	if err := s.shorten(float64(delivered) / float64(s.Shape.Batch)); err != nil {
		return err
	}
	return s.Restore(ctx, CallStart)
}

// shorten makes epochs so short that they leave most of the evicted part as it is (pread reads ahead where it finds
// neighbours cached), and that what is read ahead for one read warms few others: of the reads of an epoch, half of the
// share that is warm at its end.
func (s *mixedState) shorten(perRead float64) error {
	row, page := s.Shape, s.Files[0].PageSize()
	part := s.evicted
	if perRead > 0 {
		s.want = min(s.want, int64(coldEpochAim*s.share()*part/perRead))
	}
	extra := perRead - float64(row.MaxRange+2*page)
	allowed := min(coldEpochAim, mixedTolerance/(float64(s.percent)/100)) // of the evicted part
	if extra > 0 {
		s.want = min(s.want, int64(allowed*s.share()*part/extra))
	}
	if need := int64(row.Threads * row.Batch * fewestDraws); s.want < need {
		return s.Config.Blame(strategy.Unsupported("%s, threads=%d: one cold read makes the device deliver %.0f bytes (read-ahead), so %d of them would warm too many others; "+
			"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", s.name(), row.Threads, perRead, need, config.Size(2*float64(need)*perRead/allowed)>>20<<20+1<<20, config.EnvPrefix, config.EnvPrefix), config.FileAmount...)
	}
	return nil
}

func (s *mixedState) Restore(ctx context.Context, when Moment) error {
	if when == CallStart {
		for _, d := range s.drawers {
			d.Reset()
		}
	}
	if when == CallStart {
		if err := s.warm(ctx); err != nil {
			return err
		}
	}
	if err := s.evictFrom(ctx, s.border); err != nil {
		return err
	}
	s.stock.Renew(s.want)
	return nil
}

// Renew begins an epoch after a peer has evicted the second part.
func (s *mixedState) Renew() error {
	s.stock.Renew(s.want)
	return s.pages.Renew()
}

// warm makes the first part resident.
func (s *mixedState) warm(ctx context.Context) error {
	f := s.Files[0]
	if s.Shape.Effect == shape.None {
		return nil
	}
	defer notice.Slow("warming a part of %s", f.Path())()
	if err := pagecache.Warm(ctx, f.Control, s.border); err != nil {
		return refused(s.name(), err)
	}
	m, ok := s.Opened[0].(strategy.Mapper)
	if !ok {
		if err := s.hold(); err != nil {
			return err
		}
		m = s.held
	}
	return s.Ops.OnWorker(func() error { return m.Populate(0, s.border) })
}

// hold maps the resident part for a strategy that does not map. Nobody reads through that mapping: it keeps pages. Some
// machines page out what nobody maps and lies where memory was idle for a minute, however much is free (Linux's DAMON with the
// action pageout and the filter unmapped), and a file that was just read often lies there.
func (s *mixedState) hold() (err error) {
	if s.held == nil {
		f := s.Files[0]
		s.held, err = mapping.Open(f.Control, s.border, f.PageSize())
	}
	return err
}

// Close lets the resident part go.
func (s *mixedState) Close() error {
	if s.held == nil {
		return nil
	}
	return s.held.Close()
}

func (s *mixedState) Judge(res *result.Result) error {
	switch {
	case res.Shape.Effect == shape.None:
		return nil
	case res.Direct:
		return judgeDirect(res)
	}
	f := s.Files[0]
	hot, err := pagecache.Resident(f.Control, 0, s.border)
	if err != nil {
		return err
	}
	if hot.Share() < 1-coldResident {
		return fmt.Errorf("of the part of the file that is to be resident, only %v are: pages left the page cache while the row ran: %s", hot, s.Files.Blame("there is not enough free memory"))
	}
	var drawn, colds int64
	for _, d := range s.drawers {
		all, cold := d.Drawn()
		drawn, colds = drawn+all, colds+cold
	}
	// Of the reads that were drawn to be cold, those were whose pages the device delivered; what it delivered beyond
	// them was spread over the evicted part, and half of it on average was there when one of them came.
	reads, delivered := float64(res.Ranges()), float64(res.Counters.DeviceBytes)
	wanted := res.Touched() * float64(colds) / float64(drawn)
	spoilt := max(0, delivered-wanted) / float64(res.Intervals) / s.evicted / 2
	res.ColdReads = float64(colds) / float64(drawn) * (min(1, delivered/max(wanted, 1)) - spoilt)
	res.Mixed = true
	// What the last, unfinished hundred of each worker may be off.
	share := float64(s.percent) / 100
	granularity := 100 * share * (1 - share) * float64(s.Shape.Threads) / reads
	if off, allowed := res.ColdReads-share, min(mixedTolerance, share/10)+granularity; off > allowed || -off > allowed {
		return fmt.Errorf("%.2f %% of the reads were cold (%d of %d were drawn from the evicted part; the device delivered %d bytes), which is too far off: %s",
			100*res.ColdReads, colds, drawn, res.Counters.DeviceBytes, s.Files.Blame("reads ahead, or reads that were served from somewhere else, make the difference"))
	}
	return nil
}
