package pagecache

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/refusal"
)

// Resident says how much of the n bytes at off is in the page cache; n is at least 1. It asks cachestat (Linux
// 6.5), and mincore where that is missing or refused. The kernel hides residency from those who neither own nor
// may write a file: an error that wraps ErrUnsupported.
//
// Where cachestat does not see (CachestatSees), mincore is asked at once: a mapping is one of the file below the overlay.
func Resident(f *os.File, off, n int64) (Residency, error) {
	var r Residency
	err := error(unix.EOPNOTSUPP)
	if CachestatSees(f) {
		r, err = cachestat(f, off, n)
	}
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EPERM) {
		if err := Visible(f); err != nil {
			return Residency{}, err
		}
		return mincore(f, off, n)
	}
	return r, err
}

// Visible returns an error that wraps ErrUnsupported if the kernel hides the residency of f from this user, who neither
// owns nor may write it: mincore then claims that every page is resident, whatever is (Linux 5.2 and later), and
// cachestat is refused with EPERM where it checks that as well. It is safe for concurrent use.
func Visible(f *os.File) error {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return fmt.Errorf("stat %s: %w", f.Name(), err)
	}
	uid := os.Geteuid()
	if uid == 0 || uid == int(st.Uid) || unix.Faccessat(unix.AT_FDCWD, f.Name(), unix.W_OK, unix.AT_EACCESS) == nil {
		return nil
	}
	return refusal.Errorf(ErrUnsupported, "residency of %s: the kernel hides it from those who neither own nor may write a file; copy it, or run as its owner", f.Name())
}

func cachestat(f *os.File, off, n int64) (Residency, error) {
	page := int64(os.Getpagesize())
	var stat unix.Cachestat_t
	if err := unix.Cachestat(uint(f.Fd()), &unix.CachestatRange{Off: uint64(off), Len: uint64(n)}, &stat, 0); err != nil {
		return Residency{}, fmt.Errorf("cachestat of %d bytes at %d of %s: %w", n, off, f.Name(), err)
	}
	return Residency{Pages: (off+n+page-1)/page - off/page, Resident: int64(stat.Cache)}, nil
}

// mincore asks window by window, through mappings of its own: a vector of the whole of a large file would be large.
func mincore(f *os.File, off, n int64) (Residency, error) {
	const window = 1 << 30
	page := int64(os.Getpagesize())
	var r Residency
	vec := make([]byte, min(window, n+2*page)/page+1)
	for end := off + n; off < end; {
		start := off &^ (page - 1)
		length := min(window, end-start)
		data, err := unix.Mmap(int(f.Fd()), start, int(length), unix.PROT_READ, unix.MAP_SHARED)
		if err != nil {
			return r, fmt.Errorf("mmap of %d bytes at %d of %s, to ask for residency: %w", length, start, f.Name(), err)
		}
		pages := (length + page - 1) / page
		_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(length), uintptr(unsafe.Pointer(&vec[0])))
		err = unix.Munmap(data)
		if errno != 0 {
			return r, fmt.Errorf("mincore of %d bytes at %d of %s: %w (a system-call filter may forbid it)", length, start, f.Name(), errno)
		}
		if err != nil {
			return r, fmt.Errorf("munmap: %w", err)
		}
		r.Pages += pages
		for _, v := range vec[:pages] {
			r.Resident += int64(v & 1)
		}
		off = start + length
	}
	return r, nil
}

// CachestatSees reports whether cachestat looks where reads of f keep their pages. On overlayfs it does not: it looks at
// the overlay's own file, which never has any.
func CachestatSees(f *os.File) bool { return fileSystem(f) != unix.OVERLAYFS_SUPER_MAGIC }
