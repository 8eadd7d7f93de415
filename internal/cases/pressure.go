package cases

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/memhog"
	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// pressureCase: the data is larger than the memory that its pages may have, percent of it, and the kernel reclaims what
// was not used for long: steady state, in which some reads meet pages and others do not, as reclaim will have it. Ranges
// are drawn with replacement.
type pressureCase struct{ percent int }

const (
	pressureSteady    = 0.01    // how much residency may change between two looks, and from begin to end of a call
	pressureUnsteady  = 8 << 20 // bytes that it may change in any case: what the process itself takes and gives back
	pressureSlack     = 0.1     // of the share that is not resident: how much more or less may be
	pressureDelivered = 0.8     // the least share of what was not resident that the device must have delivered
	pressureExact     = 1 << 20 // bytes that the limit may be off
	pressureLook      = 250 * time.Millisecond
	mostPressure      = 10000 // percent
)

// parsePressure is the case of a name such as pressure110; ok is false if it is none.
func parsePressure(name string) (c pressureCase, ok bool) {
	digits, ok := strings.CutPrefix(name, "pressure")
	n, err := strconv.Atoi(digits)
	return pressureCase{n}, ok && err == nil && n > 100 && n <= mostPressure && digits == strconv.Itoa(n)
}

func (c pressureCase) name() string { return fmt.Sprintf("pressure%d", c.percent) }

// plan is how much data there is, and how much page cache for it.
func (c pressureCase) plan(fs files.Set, limit config.Size) (data, cache int64, err error) {
	f, size := fs[0], fs.Size()
	page := int64(f.PageSize())
	if limit == 0 {
		return size, size * 100 / int64(c.percent) / page * page, nil
	}
	if f.Unchecked() {
		return 0, 0, config.BadValue("LIMIT", limit.String(), strategy.Unsupported("%s: it asks for a part of the data, and this workload reads all of %v; leave it out, and the memory is worked out", c.name(), fs))
	}
	cache = int64(limit) / page * page
	data = cache / 100 * int64(c.percent) / page * page
	if data > f.Size() {
		return 0, 0, config.BadValue("LIMIT", limit.String(), strategy.Unsupported("%s: %d %% of that are %d bytes of data, %s has %d; set %sSIZE to %s or more, or a smaller limit",
			c.name(), c.percent, data, f.Path(), f.Size(), config.EnvPrefix, config.Size((data+datafile.BlockSize-1)/datafile.BlockSize*datafile.BlockSize)))
	}
	return data, cache, nil
}

// Enter takes the memory away: evict, join, limit, in this order, since a page is charged to the group that first reads it.
func (c pressureCase) Enter(ctx context.Context, site *Site) (_ State, err error) {
	if site.Shape.Predrawn || site.Shape.Effect != shape.Read && site.Shape.Effect != shape.None && site.Shape.Units == 0 {
		return nil, site.Config.Blame(strategy.Unsupported("%s: it is a case of reads only; leave it out here", c.name()), "CASES")
	}
	if err := site.Machine.OnDevice(c.name(), site.Shape); err != nil {
		return nil, err
	}
	if site.Peers != nil {
		return nil, errNotShared(site, "the contestants' processes would have to be in one memory-limited group")
	}
	data, cache, err := c.plan(site.Files, site.Config.Limit)
	if err != nil {
		return nil, err
	}
	if err := (pages{site}).evict(ctx); err != nil { // all of the file, not only the part that is the data
		return nil, err
	}
	s := &pressureState{pressureCase: c, Site: site, whole: site.Files[0].Size(), cache: cache}
	if data < site.Files.Size() {
		site.Files = files.Set{site.Files[0].Part(data)}
	}
	if site.Shape.Effect == shape.None {
		return s, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	if err := s.squeeze(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// pressureState: either a group or a hog keeps memory away.
type pressureState struct {
	pressureCase
	*Site
	whole   int64 // bytes of the first file, of which a part may be the data
	cache   int64 // bytes of page cache that are left
	group   *memlimit.Group
	limited int64 // its limit, in bytes
	hog     *memhog.Hog
	before  memlimit.Events
}

// squeeze leaves as much memory as cache, for pages of files, and what this process needs itself: in a memory-limited
// group, or by taking the rest of the machine's where no group can be made.
func (s *pressureState) squeeze(ctx context.Context) error {
	groupErr := s.join()
	if groupErr == nil || s.group != nil || !errors.Is(groupErr, memlimit.ErrUnsupported) { // once joined, nothing else is tried
		return groupErr
	}
	if s.cache < memhog.Floor {
		return strategy.Unsupported("%s: %w\nand taking memory away from the whole machine must leave it %d bytes, the case wants it to have %d", s.name(), groupErr, int64(memhog.Floor), s.cache)
	}
	var err error
	if s.hog, err = memhog.Leave(ctx, s.cache); err != nil {
		if errors.Is(err, memhog.ErrUnsupported) {
			return strategy.Unsupported("%s: %w\nand %w", s.name(), groupErr, err)
		}
		return err
	}
	s.Machine.Explain(s.name(), "%s of data; the memory of the whole machine is taken but for %d bytes, since %v", config.Size(s.Files.Size()), s.cache, groupErr)
	return nil
}

// join makes the group and sets its limit.
func (s *pressureState) join() error {
	controller, err := memlimit.Find("/")
	if err != nil {
		return err
	}
	if err := s.Machine.sweep(controller); err != nil {
		return err
	}
	debug.FreeOSMemory() // what this process has no use for any more is not to count as its own
	if s.group, err = controller.Join(s.name()); err != nil {
		return err
	}
	return s.limit(s.cache)
}

// limit sets the limit of the group. It is too small or too large by what the user asked for, if by anything.
func (s *pressureState) limit(bytes int64) error {
	names := config.FileAmount[:2]
	switch {
	case s.Config.Limit > 0:
		names = []string{"LIMIT"}
	case s.Shape.Units > 0:
		names = config.UnitAmount[1:]
	}
	return s.Config.Blame(s.setLimit(bytes), names...)
}

func (s *pressureState) setLimit(bytes int64) error {
	err := s.group.Limit(bytes)
	var small *memlimit.TooSmallError
	if errors.As(err, &small) {
		data := config.Size(small.Least * int64(s.percent) / 100)
		if s.Shape.Units > 0 { // neither SIZE nor LIMIT says how much data there is
			return fmt.Errorf("%s: %s of data leave %d bytes for their pages: %w; so %s of data or more would work",
				s.name(), config.Size(s.Files.Size()), s.cache, err, (data>>20+1)<<20)
		}
		return fmt.Errorf("%s: %s of data leave %d bytes for their pages: %w; so %s of data or more would work (%sSIZE, or a %sLIMIT of %s or more)",
			s.name(), config.Size(s.Files.Size()), s.cache, err, (data>>20+1)<<20, config.EnvPrefix, config.EnvPrefix, config.Size(small.Least>>20+1)<<20)
	}
	var unfit *memlimit.LimitError
	switch {
	case errors.As(err, &unfit):
		return strategy.Unsupported("%s: %w", s.name(), err)
	case err != nil:
		return fmt.Errorf("%s: %w", s.name(), err)
	}
	s.limited = bytes
	return nil
}

// trim sets the limit anew, so that it leaves the page cache what it should have: what the group is charged besides pages
// of files (memory of this process that it took after it joined, the kernel's own records) shows only once it has read.
// It says whether the limit had to move.
func (s *pressureState) trim() (moved bool, err error) {
	if s.group == nil {
		return false, nil
	}
	u, err := s.group.Usage()
	if err != nil {
		return false, err
	}
	limit := s.cache + u.Current - u.File
	if off := limit - s.limited; -pressureExact <= off && off <= pressureExact {
		return false, nil
	}
	return true, s.limit(limit)
}

// explain says what was made of the memory.
func (s *pressureState) explain() {
	if s.group != nil {
		s.Machine.Explain(s.name(), "%s of data; page cache for %d bytes of them, %d for this process and the kernel's records: a limit of %d in %s",
			config.Size(s.Files.Size()), s.cache, s.limited-s.cache, s.limited, s.group.Dir())
	}
}

// Close gives the memory back.
func (s *pressureState) Close() error {
	var err error
	if s.group != nil {
		err = s.group.Close()
	}
	if s.hog != nil {
		err = errors.Join(err, s.hog.Close())
	}
	return err
}

// FaultStride is a page: rows of faults are none of this case.
func (*pressureState) FaultStride(page int) int { return page }

// Renew has nothing to do: there are no peers.
func (*pressureState) Renew() error { return nil }

func (s *pressureState) Drawer(id int, rng *rand.PCG, _ draw.Gate) draw.Drawer {
	if s.Shape.Order == strategy.OrderSequential {
		from, to := s.stripe(id)
		return draw.NewEndless(s.Shape, from, to)
	}
	return &draw.Uniform{Geometry: s.Geometry, RNG: rng}
}

// Prepare reads the file through once, then runs the row until residency is steady.
func (s *pressureState) Prepare(ctx context.Context) error {
	if s.Shape.Effect == shape.None {
		return nil
	}
	fs := s.Files
	defer notice.Slow("reading %v until their residency is steady", fs)()
	for _, f := range fs {
		if err := pagecache.ReadThrough(ctx, f.Control, f.Size()); err != nil {
			return fmt.Errorf("reading %s through: %w", f.Path(), err)
		}
	}
	if f := fs[0]; f.Size() < s.whole { // what was read ahead behind the data
		if _, err := (pagecache.Evictor{Off: f.Size(), Limit: 1}).Evict(ctx, f.Control, s.whole); err != nil {
			return refused(s.name(), err)
		}
	}
	if s.Direct() { // nothing of it comes into the page cache
		return nil
	}
	debug.FreeOSMemory() // the buffers of reading through: given back later, they would be the file's
	if _, err := s.trim(); err != nil {
		return err
	}
	last, err := fs.Resident()
	for err == nil {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading %v until their residency is steady, which is %v now: %w", fs, last, err)
		}
		end := time.Now().Add(pressureLook)
		if err := s.Ops.Until(func() bool { return time.Now().Before(end) }); err != nil {
			return err
		}
		now, err := fs.Resident()
		if err != nil {
			return err
		}
		full, err := s.full()
		moved, trimErr := s.trim()
		if err := errors.Join(err, trimErr); err != nil {
			return err
		}
		change := float64(now.Resident-last.Resident) * float64(fs[0].PageSize())
		if allowed := max(pressureSteady*float64(fs.Size()), pressureUnsteady) / 2; full && !moved && -allowed <= change && change <= allowed {
			s.explain()
			return nil
		}
		last = now
	}
	return err
}

// full reports whether the group is at its limit, so that nothing comes in without something going out.
func (s *pressureState) full() (bool, error) {
	if s.group == nil {
		return true, nil
	}
	u, err := s.group.Usage()
	return u.Current >= s.limited-max(s.cache/200, 1<<20), err
}

func (s *pressureState) Restore(_ context.Context, when Moment) error {
	if s.group == nil {
		return nil
	}
	u, err := s.group.Usage()
	s.before = u.Events
	return err
}

func (s *pressureState) Judge(res *result.Result) error {
	if res.Shape.Effect == shape.None {
		return nil
	}
	if s.group != nil {
		u, err := s.group.Usage()
		if err != nil {
			return err
		}
		res.GroupFile = float64(u.File) / float64(s.cache)
		if killed := u.Events.Sub(s.before).OOMKills; killed > 0 {
			return fmt.Errorf("the kernel killed %d processes of the memory-limited group for want of memory", killed)
		}
	}
	if res.Direct {
		return judgeDirect(res)
	}
	share := 100 / float64(s.percent)
	slack := pressureSlack*(1-share) + pressureUnsteady/float64(res.FileSize)
	for _, r := range []pagecache.Residency{res.Before, res.After} {
		if r.Share() > share+slack || r.Share() < share-slack {
			return fmt.Errorf("%v, but there is to be page cache for %.1f %%: %s", r, 100*share,
				s.Files.Blame("pages are charged to somebody else, or somebody else's are charged here"))
		}
	}
	change := float64(res.After.Resident-res.Before.Resident) * float64(res.Page)
	if allowed := max(pressureSteady*float64(res.FileSize), pressureUnsteady); change > allowed || change < -allowed {
		return fmt.Errorf("the file was not in a steady state: %v when the call began, %v when it ended: %s", res.Before, res.After, s.Files.Blame("it takes longer to become steady (READBENCH_WARMUP)"))
	}
	const enough = 1000 // ranges of which as many are missing as are not resident
	missing := (1 - max(res.Before.Share(), res.After.Share()) - slack) * res.Touched()
	if res.Shape.Order == strategy.OrderRandom && !res.Shape.Skewed && res.Ranges() >= enough && float64(res.Counters.DeviceBytes) < pressureDelivered*missing {
		return fmt.Errorf("the device delivered %d bytes, but pages of %.0f were not resident: %s", res.Counters.DeviceBytes, missing, s.Files.Blame("reads were served from somewhere else"))
	}
	return nil
}
