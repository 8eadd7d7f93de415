package directio

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/readbench/strategy"
)

// Open opens f and switches the cache off for its descriptor (F_NOCACHE). Such reads are fastest in whole pages.
func Open(f *strategy.File) (fd *os.File, align int, err error) {
	fd, err = f.Open(0)
	if err != nil {
		return nil, 0, fmt.Errorf("direct reads: %w", err)
	}
	if _, err := unix.FcntlInt(fd.Fd(), unix.F_NOCACHE, 1); err != nil {
		return nil, 0, errors.Join(strategy.Unsupported("direct reads: F_NOCACHE on %s: %w", f.Path(), err), fd.Close())
	}
	return fd, f.PageSize(), nil
}

// Refused reports whether an error of a read means that the file system has no direct reads.
func Refused(err error) bool { return errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EOPNOTSUPP) }
