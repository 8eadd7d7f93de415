package prefetch

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/readbench/suite/readbench"
)

// A ProbeKind is the system call that tells whether a range is resident.
type ProbeKind string

// The probes. BestProbe is the one that costs least here.
const (
	BestProbe ProbeKind = ""
	Cachestat ProbeKind = "cachestat" // on the descriptor; takes no lock of the address space; Linux 6.5
	Mincore   ProbeKind = "mincore"   // on the mapping, under the lock of the address space (mmap_lock)
)

// A HintKind is the system call that tells the kernel to read ranges.
type HintKind string

// The hints. BestHint is the one that costs least here. All three start the same read-ahead in the kernel.
const (
	BestHint       HintKind = ""
	Fadvise        HintKind = "fadvise"         // posix_fadvise(WILLNEED) on the descriptor, for each range
	ProcessMadvise HintKind = "process_madvise" // of this process itself, once for all ranges of a batch; Linux 5.10, root before 6.13
	Madvise        HintKind = "madvise"         // madvise(MADV_WILLNEED) on the mapping, for each range
)

// What a choice is made among, in the order of preference: a call is passed over only for one that costs a
// quarter less. The cost of process_madvise is that of a range in a full batch; for one range alone it costs
// more than the others.
var (
	probeKinds = []ProbeKind{Cachestat, Mincore}
	hintKinds  = []HintKind{Fadvise, ProcessMadvise, Madvise}
)

// Config is what an Advisor works on.
type Config struct {
	Policy   Policy
	Data     []byte // a mapping of the file from its start, which outlives the Advisor
	FD       int    // the same file, open for reading until the Advisor is closed
	Name     string // of the file, for errors
	PageSize int    // bytes, to which ranges are rounded out: the system's page size or a multiple of it
	Workers  int    // how many use the Advisor at the same time, at least 1
	Faults   int    // see Target.Faults
	Probe    ProbeKind
	Hint     HintKind
}

// An Advisor carries out what a policy decides, on one mapping. It is safe for concurrent use; each of its
// Workers is for one goroutine.
type Advisor struct {
	c       Config
	k       *kernel
	target  Target
	open    func(id int) Decider
	pidfd   int // of this process, -1 without
	probes  []measured
	hints   []measured
	leftOut []error
}

// measured is what one call costs here, for one range.
type measured struct {
	kind string
	cost time.Duration
}

// NewAdvisor finds out which calls there are and what they cost, takes the probe and the hint that are asked
// for, or else the cheapest, and opens the policy. It measures once per process, file, number of workers and
// size of ranges: some milliseconds, and reads of 16 ranges, so some of the file may be in the page cache
// afterwards. What the kernel lacks or refuses is left out (see LeftOut). An error that wraps
// readbench.ErrUnsupported says that nothing is left of a kind, or not what was asked for.
//
// The caller closes the Advisor.
func NewAdvisor(c Config) (*Advisor, error) { return newAdvisor(c, system()) }

func newAdvisor(c Config, k *kernel) (_ *Advisor, err error) {
	switch {
	case c.Policy == nil:
		return nil, errors.New("an advisor needs a policy")
	case len(c.Data) == 0:
		return nil, fmt.Errorf("prefetching on %s: the mapping is empty", c.Name)
	case c.PageSize <= 0 || c.PageSize&(c.PageSize-1) != 0:
		return nil, fmt.Errorf("prefetching on %s: a page size is a power of two, this is %d", c.Name, c.PageSize)
	case c.Workers < 1 || c.Faults < 1:
		return nil, fmt.Errorf("prefetching on %s: %d workers with %d faults a range; there is at least one of each", c.Name, c.Workers, c.Faults)
	}
	a := &Advisor{c: c, k: k, pidfd: -1}
	a.target = Target{Size: int64(len(c.Data)), PageSize: c.PageSize, Workers: c.Workers, Processors: runtime.NumCPU(), Faults: c.Faults}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.choose(); err != nil {
		return nil, err
	}
	a.open = c.Policy.Open(a.target)
	return a, nil
}

// Target is what the policy was told.
func (a *Advisor) Target() Target { return a.target }

// Kinds are the probe and the hint in use. The probe is "" if there is none, and the policy needs none.
func (a *Advisor) Kinds() (ProbeKind, HintKind) { return a.c.Probe, a.c.Hint }

// LeftOut says, an error each, which calls cannot be used here and why.
func (a *Advisor) LeftOut() []error { return a.leftOut }

// String says which calls are in use, and what was measured.
func (a *Advisor) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "probe %s, hint %s (of %d workers on %d processors, for a resident range:", cmpOr(string(a.c.Probe), "none"), a.c.Hint, a.target.Workers, a.target.Processors)
	for _, m := range slices.Concat(a.probes, a.hints) {
		fmt.Fprintf(&b, " %s %v,", m.kind, m.cost)
	}
	fmt.Fprintf(&b, " the device reads a page in %v)", a.target.Read)
	return b.String()
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// Close releases what the Advisor opened itself: neither mapping nor descriptor. No Worker is in use any more.
func (a *Advisor) Close() error {
	if a.pidfd < 0 {
		return nil
	}
	fd := a.pidfd
	a.pidfd = -1
	if err := a.k.closeFD(fd); err != nil {
		return fmt.Errorf("closing a pidfd: %w", err)
	}
	return nil
}

// Worker makes the part of one worker, 0 ≤ id < Config.Workers. It is nil if the policy neither probes nor hints.
func (a *Advisor) Worker(id int) *Worker {
	d := a.open(id)
	if d == nil {
		return nil
	}
	return newWorker(a, d, a.c.Probe, a.c.Hint)
}

// A Worker does for a reader what the runner may ask of it.
var _ interface {
	readbench.Prefetcher
	readbench.Counter
} = (*Worker)(nil)
