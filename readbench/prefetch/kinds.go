package prefetch

// The system calls that there are to choose among, and what is known of each.

import "time"

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

// clearly is the cost below which, as a share of another's, a call is preferred to one that stands before it.
const clearly = 0.75

// measured is what one call costs here, for one range.
type measured struct {
	kind string
	cost time.Duration
}
