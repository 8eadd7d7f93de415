package readbench

import (
	"context"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
)

// mixedCase: a set share of the reads, in percent, meets cold pages, for as long as one likes. The first half of the
// file is resident, and its slots are drawn with replacement; the second half is evicted, and its slots are drawn
// without replacement and evicted again when they are used up. Each hundred reads of a worker have as many cold ones
// as the share says, at random places among them.
type mixedCase struct{ percent int }

const (
	mixedTolerance = 0.01    // how far the measured share of cold reads may be off, at most; a tenth of it for small shares
	mixedBorder    = 2 << 20 // the halves meet at a multiple of it: no folio is larger
	block          = 100     // reads of which the share holds exactly
)

// parseMixed is the case of a name such as mixed10; ok is false if it is none.
func parseMixed(name string) (c mixedCase, ok bool) {
	digits, ok := strings.CutPrefix(name, "mixed")
	n, err := strconv.Atoi(digits)
	return mixedCase{n}, ok && err == nil && n >= 1 && n <= 99 && digits == strconv.Itoa(n)
}

func (c mixedCase) name() string { return fmt.Sprintf("mixed%d", c.percent) }

func (c mixedCase) enter(_ context.Context, r *running) (caseState, error) {
	if r.row.Order != OrderRandom || r.row.Predrawn || r.row.Units > 0 || r.row.Effect != EffectRead && r.row.Effect != EffectNone {
		return nil, r.suite.config.Blame(Unsupported("%s: it is a case of random reads only, at places that the core draws; leave it out here", c.name()), "CASES")
	}
	if err := r.onDevice(c.name()); err != nil {
		return nil, err
	}
	return &mixedState{mixedCase: c, coldPages: coldPages{r}}, nil
}

// mixedState: border is where the resident part ends and the evicted one begins.
type mixedState struct {
	mixedCase
	coldPages
	held      *mapping.Map // the resident part, if the strategy does not map
	border    int64
	hot, cold geometry
	stock           // of the evicted part
	want      int64 // slots of an epoch
}

func (s *mixedState) drawer(w *Worker) drawer {
	return &mixed{ // the geometries are set when the row is prepared
		taker:   taker{s: &s.stock, run: s.run},
		hot:     uniform{rng: &w.rng},
		w:       w,
		percent: uint64(s.percent),
		isCold:  make([]bool, s.run.row.Batch),
		colds:   make([]Range, s.run.row.Batch),
	}
}

// split cuts the file in two.
func (s *mixedState) split() error {
	g, f := s.run.geometry, s.run.files[0]
	s.border = f.size / 2 / mixedBorder * mixedBorder
	if s.border == 0 {
		s.border = f.size / 2 / int64(f.page) * int64(f.page)
	}
	s.hot, s.cold = g, g
	s.hot.slots = s.border / g.slotSize
	first := (s.border + g.slotSize - 1) / g.slotSize
	s.cold.base, s.cold.slots = first*g.slotSize, f.size/g.slotSize-first
	if s.run.row.Effect == EffectNone {
		s.hot.slots, s.cold.slots = g.slots/2, g.slots/2
	}
	if need := int64(s.run.row.Threads * s.run.row.Batch); s.hot.slots < 1 || s.cold.slots < need {
		return s.run.suite.config.Blame(Unsupported("%s, threads=%d: an op of each thread may need %d different places in the evicted half, %s has %d; take a file of %s or more (%sSIZE, or another %sFILE)",
			s.name(), s.run.row.Threads, need, f.path, s.cold.slots, Size(2*need*g.slotSize+2*mixedBorder), EnvPrefix, EnvPrefix), fileAmount...)
	}
	return nil
}

// prepare measures with one cold op how much a cold read makes the device deliver beyond its own pages: what warms
// later ones.
func (s *mixedState) prepare(ctx context.Context) error {
	if err := s.split(); err != nil {
		return err
	}
	for _, w := range s.run.workers {
		d := w.draw.(*mixed)
		d.geometry, d.hot.geometry = s.cold, s.hot
	}
	s.epochs = epochs{slots: s.cold.slots, seed: s.run.suite.config.Seed}
	s.want = s.cold.slots
	if s.run.row.Effect == EffectNone {
		return s.restore(ctx, callStart)
	}
	if err := s.warm(ctx); err != nil {
		return err
	}
	if err := s.evictCounted(ctx, s.border); err != nil {
		return err
	}
	if err := s.restore(ctx, callStart); err != nil {
		return err
	}
	if s.run.direct() {
		return nil
	}
	for _, w := range s.run.workers { // the pilot's reads are all cold
		w.draw.(*mixed).percent = block
		defer func() { w.draw.(*mixed).percent = uint64(s.percent); w.draw.(*mixed).left = 0 }()
	}
	delivered, err := s.run.pilot()
	if err != nil {
		return err
	}
	if err := s.shorten(float64(delivered) / float64(s.run.row.Batch)); err != nil {
		return err
	}
	return s.restore(ctx, callStart)
}

// shorten makes epochs so short that they leave most of the evicted part as it is (pread reads ahead where it finds
// neighbours cached), and that what is read ahead for one read warms few others: of the reads of an epoch, half of the
// share that is warm at its end.
func (s *mixedState) shorten(perRead float64) error {
	row, page := &s.run.row, s.run.files[0].page
	part := s.evictedBytes()
	if perRead > 0 {
		s.want = min(s.want, int64(coldEpochAim*part/perRead))
	}
	extra := perRead - float64(row.MaxRange+2*page)
	allowed := min(coldEpochAim, mixedTolerance/(float64(s.percent)/100)) // of the evicted part
	if extra > 0 {
		s.want = min(s.want, int64(allowed*part/extra))
	}
	if need := int64(row.Threads * row.Batch * fewestDraws); s.want < need {
		return s.run.suite.config.Blame(Unsupported("%s, threads=%d: one cold read makes the device deliver %.0f bytes (read-ahead), so %d of them would warm too many others; "+
			"take a file of %s or more (%sSIZE, or another %sFILE), or lower read_ahead_kb", s.name(), row.Threads, perRead, need, Size(2*float64(need)*perRead/allowed)>>20<<20+1<<20, EnvPrefix, EnvPrefix), fileAmount...)
	}
	return nil
}

// evictedBytes is the size of the evicted part.
func (s *mixedState) evictedBytes() float64 { return float64(s.run.files[0].size - s.cold.base) }

func (s *mixedState) restore(ctx context.Context, when moment) error {
	if when == callStart {
		for _, w := range s.run.workers {
			d := w.draw.(*mixed)
			d.drawn, d.coldDrawn, d.left = 0, 0, 0
		}
	}
	if when == callStart {
		if err := s.warm(ctx); err != nil {
			return err
		}
	}
	if err := s.evictFrom(ctx, s.border); err != nil {
		return err
	}
	s.renew(s.want, s.run)
	return nil
}

// warm makes the first part resident.
func (s *mixedState) warm(ctx context.Context) error {
	f := s.run.files[0]
	if s.run.row.Effect == EffectNone {
		return nil
	}
	defer notice.Slow("warming a part of %s", f.path)()
	if err := pagecache.Warm(ctx, f.control, s.border); err != nil {
		return refused(s.name(), err)
	}
	m, ok := s.run.opened[0].(Mapper)
	if !ok {
		if err := s.hold(); err != nil {
			return err
		}
		m = s.held
	}
	return s.run.workers[0].do(func() error { return m.Populate(0, s.border) })
}

// hold maps the resident part for a strategy that does not map. Nobody reads through that mapping: it keeps pages. Some
// machines page out what nobody maps and lies where memory was idle for a minute, however much is free (Linux's DAMON with the
// action pageout and the filter unmapped), and a file that was just read often lies there.
func (s *mixedState) hold() (err error) {
	if s.held == nil {
		f := s.run.files[0]
		s.held, err = mapping.Open(f.control, s.border, f.page)
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

func (s *mixedState) judge(res *result) error {
	switch {
	case res.row.Effect == EffectNone:
		return nil
	case res.direct:
		return judgeDirect(res)
	}
	f := s.run.files[0]
	hot, err := pagecache.Resident(f.control, 0, s.border)
	if err != nil {
		return err
	}
	if hot.Share() < 1-coldResident {
		return fmt.Errorf("of the part of the file that is to be resident, only %v are: pages left the page cache while the row ran: %s", hot, s.run.files.blame("there is not enough free memory"))
	}
	var drawn, colds int64
	for _, w := range s.run.workers {
		d := w.draw.(*mixed)
		drawn, colds = drawn+d.drawn, colds+d.coldDrawn
	}
	// Of the reads that were drawn to be cold, those were whose pages the device delivered; what it delivered beyond
	// them was spread over the evicted part, and half of it on average was there when one of them came.
	reads, delivered := float64(res.ranges()), float64(res.counters.DeviceBytes)
	wanted := res.touched() * float64(colds) / float64(drawn)
	spoilt := max(0, delivered-wanted) / float64(res.intervals) / s.evictedBytes() / 2
	res.coldReads = float64(colds) / float64(drawn) * (min(1, delivered/max(wanted, 1)) - spoilt)
	res.mixed = true
	// What the last, unfinished hundred of each worker may be off.
	share := float64(s.percent) / 100
	granularity := block * share * (1 - share) * float64(len(s.run.workers)) / reads
	if off, allowed := res.coldReads-share, min(mixedTolerance, share/10)+granularity; off > allowed || -off > allowed {
		return fmt.Errorf("%.2f %% of the reads were cold (%d of %d were drawn from the evicted part; the device delivered %d bytes), which is too far off: %s",
			100*res.coldReads, colds, drawn, res.counters.DeviceBytes, s.run.files.blame("reads ahead, or reads that were served from somewhere else, make the difference"))
	}
	return nil
}

// mixed draws from both parts.
type mixed struct {
	taker           // from the evicted part
	hot     uniform // from the resident one
	w       *Worker
	percent uint64

	left, need uint64  // of the present hundred reads: how many are left, and how many of these are to be cold
	isCold     []bool  // of the ranges that are being drawn
	colds      []Range // where the cold ones of them are

	drawn, coldDrawn int64 // of the present call
}

func (d *mixed) draw(rs []Range) (int, error) {
	n := d.plan(len(rs))
	colds := d.colds[:n]
	for !d.take(colds) {
		if err := d.w.pause(); err != nil {
			return 0, err
		}
	}
	d.w.catchUp()
	for i := range rs {
		if d.isCold[i] {
			rs[i].Off = colds[0].Off
			colds = colds[1:]
			continue
		}
		slot, rest := bits.Mul64(d.hot.rng.Uint64(), uint64(d.hot.slots))
		rs[i].Off = d.hot.offset(int64(slot), rest)
	}
	d.drawn += int64(len(rs))
	d.coldDrawn += int64(n)
	return len(rs), nil
}

// plan says which of the next n reads are cold, and how many: selection sampling (Knuth, The Art of Computer Programming
// 3.4.2, algorithm S) of percent from each hundred.
func (d *mixed) plan(n int) (colds int) {
	for i := range n {
		if d.left == 0 {
			d.left, d.need = block, d.percent
		}
		at, _ := bits.Mul64(d.hot.rng.Uint64(), d.left)
		d.isCold[i] = at < d.need
		if d.isCold[i] {
			d.need--
			colds++
		}
		d.left--
	}
	return colds
}
