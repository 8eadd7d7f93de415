package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/userfile"
	"github.com/readbench/suite/readbench/config"
)

// A Set is what the rows of a suite read: one, unless a workload brings its own.
type Set []*File

// Size is how many bytes they have together.
func (fs Set) Size() (sum int64) {
	for _, f := range fs {
		sum += f.Size()
	}
	return sum
}

// Resident is how much of them is in the page cache.
func (fs Set) Resident() (sum pagecache.Residency, err error) {
	for _, f := range fs {
		r, err := pagecache.Resident(f.Control, 0, f.Size())
		if err != nil {
			return sum, err
		}
		sum.Pages += r.Pages
		sum.Resident += r.Resident
	}
	return sum, nil
}

// Close closes them.
func (fs Set) Close() error {
	var errs []error
	for _, f := range fs {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// Blame says why pages of the files may have come or gone; other is the cause if it was no other process.
func (fs Set) Blame(other string) string {
	var open []*os.File
	for _, f := range fs {
		open = append(open, f.Control)
	}
	return filelock.Blame(other, open...)
}

// String names the files.
func (fs Set) String() string {
	if len(fs) == 1 {
		return fs[0].Path()
	}
	return fmt.Sprintf("%s and %d more", fs[0].Path(), len(fs)-1)
}

// OpenUnchecked opens a regular file whose content the core does not know, for a workload that reads files of its own:
// its ops check what they fetch (see Row.Units). The caller closes it.
func OpenUnchecked(ctx context.Context, path string) (*File, error) {
	control, err := userfile.Open(ctx, path, userfile.Regular)
	if err != nil {
		return nil, err
	}
	f, err := inspectUnchecked(ctx, control)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), control.Close())
	}
	return f, nil
}

func inspectUnchecked(ctx context.Context, control *os.File) (*File, error) {
	st, err := control.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() == 0 {
		return nil, errors.New("it has 0 bytes: there is nothing to read")
	}
	f := newFile(control, st.Size())
	f.unchecked = true
	return f, checkAllocated(ctx, control, st.Size(), st)
}

// Claim locks all files, in one order for all processes, so that no two wait for each other.
func (fs Set) Claim(ctx context.Context, c *config.Config) error {
	sorted := slices.SortedFunc(slices.Values(fs), func(a, b *File) int { return strings.Compare(a.Path(), b.Path()) })
	for _, f := range sorted {
		if err := claim(ctx, c, f.Control); err != nil {
			return err
		}
	}
	return nil
}
