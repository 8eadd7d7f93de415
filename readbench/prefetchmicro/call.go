package prefetchmicro

import (
	"syscall"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategy"
)

// A Call is one kernel call, or a short loop of one, that is measured.
type Call struct {
	name   string
	kind   string // the system call, which is reported as KIND/op
	effect readbench.Effect
	batch  int  // ranges of one call
	mapped bool // it works on a mapping, not on a descriptor
	pidfd  bool // it names the process by a descriptor
	looks  bool // the kernel answers it only to those who may know the residency of the file
	capped bool // the kernel cuts its ranges at hintLimit
	do     func(c *caller, rs []strategy.Range) error

	// refused are the errors that mean, when the first call is made, "not here": the row is skipped with what stands here,
	// the likely cause and the remedy. Any other error fails it.
	refused map[syscall.Errno]string
	// onDevice are further ones, if the file is a block device.
	onDevice map[syscall.Errno]string
}

// processMadviseRanges is how many ranges one process_madvise call hints.
const processMadviseRanges = 16

// What is the likely cause of an error, whichever call it is.
const (
	filtered    = "a system-call filter (seccomp) forbids it; allow it there"
	orFiltered  = ", or a system-call filter (seccomp) that does not know it hides it"
	adviceBuilt = "the kernel was built without CONFIG_ADVISE_SYSCALLS" + orFiltered
)

// Mincore is mincore(2), which tells of each page of a mapping whether it is resident: what the JMH suite calls isLoaded.
// To those who neither own nor may write the file, Linux 5.2 and later says that all is resident: the row is skipped.
func Mincore() Call {
	return Call{
		name: "mincore", kind: "mincore", effect: readbench.EffectProbe, batch: 1, mapped: true, looks: true, do: doMincore,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: "the kernel was built without it" + orFiltered,
			syscall.EPERM:  filtered,
		},
	}
}

// Cachestat is cachestat(2) (Linux 6.5), which counts the resident pages of a range of a descriptor.
func Cachestat() Call {
	return Call{
		name: "cachestat", kind: "cachestat", effect: readbench.EffectProbe, batch: 1, looks: true, do: doCachestat,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS:     "it came with Linux 6.5" + orFiltered,
			syscall.EPERM:      filtered,
			syscall.EOPNOTSUPP: "this file system keeps no page cache that it could count (hugetlbfs); take a file on another one",
		},
	}
}

// Nowait is preadv2(2) with RWF_NOWAIT (Linux 4.14), of one byte in each page of a range until one is missing. Since Linux
// 6.12 the kernel starts to read a page that it finds missing, and this probe is a hint as well; before, it leaves the page
// as it is (RWF_NOWAIT implied IOCB_NOIO from 5.9 on, and had no read-ahead before). Linux 5.9 and 5.10 may answer with
// 0 bytes within the file (readv(2), BUGS): that fails the row.
func Nowait() Call {
	return Call{
		name: "nowait", kind: "preadv2", effect: readbench.EffectProbe, batch: 1, do: doNowait,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS:     "preadv2 came with Linux 4.6, and RWF_NOWAIT with 4.14" + orFiltered,
			syscall.EPERM:      filtered,
			syscall.EOPNOTSUPP: "RWF_NOWAIT came with Linux 4.14, and this file system does not know it, or not for buffered reads; take a file on another one",
		},
	}
}

// MadviseWillneed is madvise(2) with MADV_WILLNEED. The kernel cuts a range at what it reads in one request or reads
// ahead, whichever is more (force_page_cache_ra: the queue's max_sectors_kb and read_ahead_kb), and returns success:
// in cold, larger ranges are skipped.
func MadviseWillneed() Call {
	return Call{
		name: "madvise-willneed", kind: "madvise", effect: readbench.EffectHint, batch: 1, mapped: true, capped: true, do: doMadvise,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: adviceBuilt,
			syscall.EPERM:  filtered,
		},
	}
}

// ProcessMadvise is process_madvise(2) with MADV_WILLNEED on this process: 16 ranges a call, each of them cut as
// MadviseWillneed says. What is reported is per range. The call came with Linux 5.10, for MADV_WILLNEED with 5.15, and
// without CAP_SYS_NICE a process may use it on itself since 6.12.
func ProcessMadvise() Call {
	return Call{
		name: "process-madvise", kind: "process_madvise", effect: readbench.EffectHint, batch: processMadviseRanges, mapped: true, pidfd: true, capped: true, do: doProcessMadvise,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: "process_madvise came with Linux 5.10 (pidfd_open with 5.3), or " + adviceBuilt,
			syscall.EPERM:  "before Linux 6.12 it needs CAP_SYS_NICE, on oneself as well; or " + filtered,
			syscall.EINVAL: "before Linux 5.15 it does not take MADV_WILLNEED",
		},
	}
}

// FadviseWillneed is posix_fadvise(2) with POSIX_FADV_WILLNEED. Ranges are cut as MadviseWillneed says.
func FadviseWillneed() Call {
	return Call{
		name: "fadvise-willneed", kind: "fadvise", effect: readbench.EffectHint, batch: 1, capped: true, do: doFadvise,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: adviceBuilt,
			syscall.EPERM:  filtered,
		},
	}
}

// Readahead is readahead(2). Ranges are cut as MadviseWillneed says.
func Readahead() Call {
	return Call{
		name: "readahead", kind: "readahead", effect: readbench.EffectHint, batch: 1, capped: true, do: doReadahead,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: "a system-call filter (seccomp) hides it; allow it there",
			syscall.EPERM:  filtered,
		},
		onDevice: map[syscall.Errno]string{
			syscall.EINVAL: "before Linux 6.7 (and stable releases of November 2023) it refuses block devices; take a regular file",
		},
	}
}

// PopulateRead is madvise(2) with MADV_POPULATE_READ (Linux 5.14), which reads pages and enters them into the page
// tables, and returns when they are there.
func PopulateRead() Call {
	return Call{
		name: "populate-read", kind: "madvise", effect: readbench.EffectHint, batch: 1, mapped: true, do: doPopulate,
		refused: map[syscall.Errno]string{
			syscall.ENOSYS: adviceBuilt,
			syscall.EPERM:  filtered,
			syscall.EINVAL: "MADV_POPULATE_READ came with Linux 5.14",
		},
	}
}

// Calls are all calls.
func Calls() []Call {
	return []Call{Mincore(), Cachestat(), Nowait(), MadviseWillneed(), ProcessMadvise(), FadviseWillneed(), Readahead(), PopulateRead()}
}
