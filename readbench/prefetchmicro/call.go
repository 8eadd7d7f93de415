package prefetchmicro

import "github.com/readbench/suite/readbench"

// A Call is one kernel call, or a short loop of one, that is measured.
type Call struct {
	name   string
	effect readbench.Effect
	batch  int  // ranges of one call
	mapped bool // it works on a mapping, not on a descriptor
	do     func(c *caller, rs []readbench.Range) error
}

// processMadviseRanges is how many ranges one process_madvise call hints.
const processMadviseRanges = 16

// Mincore is mincore(2), which tells of each page of a mapping whether it is resident: what the JMH suite calls isLoaded.
func Mincore() Call { return Call{"mincore", readbench.EffectProbe, 1, true, doMincore} }

// Cachestat is cachestat(2) (Linux 6.5), which counts the resident pages of a range of a descriptor.
func Cachestat() Call { return Call{"cachestat", readbench.EffectProbe, 1, false, doCachestat} }

// Nowait is preadv2(2) with RWF_NOWAIT, of one byte in each page of a range until one is missing. Linux starts to read
// a page that it finds missing: this probe is a hint as well.
func Nowait() Call { return Call{"nowait", readbench.EffectProbe, 1, false, doNowait} }

// MadviseWillneed is madvise(2) with MADV_WILLNEED.
func MadviseWillneed() Call {
	return Call{"madvise-willneed", readbench.EffectHint, 1, true, doMadvise}
}

// ProcessMadvise is process_madvise(2) with MADV_WILLNEED on this process (Linux 5.10): 16 ranges a call. What is
// reported is per range.
func ProcessMadvise() Call {
	return Call{"process-madvise", readbench.EffectHint, processMadviseRanges, true, doProcessMadvise}
}

// FadviseWillneed is posix_fadvise(2) with POSIX_FADV_WILLNEED.
func FadviseWillneed() Call {
	return Call{"fadvise-willneed", readbench.EffectHint, 1, false, doFadvise}
}

// Readahead is readahead(2).
func Readahead() Call { return Call{"readahead", readbench.EffectHint, 1, false, doReadahead} }

// PopulateRead is madvise(2) with MADV_POPULATE_READ (Linux 5.14), which reads pages and enters them into the page
// tables, and returns when they are there.
func PopulateRead() Call {
	return Call{"populate-read", readbench.EffectHint, 1, true, doPopulate}
}

// Calls are all calls.
func Calls() []Call {
	return []Call{Mincore(), Cachestat(), Nowait(), MadviseWillneed(), ProcessMadvise(), FadviseWillneed(), Readahead(), PopulateRead()}
}
