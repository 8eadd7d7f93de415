package readbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/userfile"
)

// files are what the rows of a suite read: one, unless a workload brings its own.
type files []*File

// size is how many bytes they have together.
func (fs files) size() (sum int64) {
	for _, f := range fs {
		sum += f.size
	}
	return sum
}

// resident is how much of them is in the page cache.
func (fs files) resident() (sum pagecache.Residency, err error) {
	for _, f := range fs {
		r, err := pagecache.Resident(f.control, 0, f.size)
		if err != nil {
			return sum, err
		}
		sum.Pages += r.Pages
		sum.Resident += r.Resident
	}
	return sum, nil
}

func (fs files) close() error {
	var errs []error
	for _, f := range fs {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// blame says why pages of the files may have come or gone; other is the cause if it was no other process.
func (fs files) blame(other string) string {
	var open []*os.File
	for _, f := range fs {
		open = append(open, f.control)
	}
	return filelock.Blame(other, open...)
}

// String names the files.
func (fs files) String() string {
	if len(fs) == 1 {
		return fs[0].path
	}
	return fmt.Sprintf("%s and %d more", fs[0].path, len(fs)-1)
}

// OpenUnchecked opens a regular file whose content the core does not know, for a workload that reads files of its own:
// its ops check what they fetch (see Row.Units). The caller closes it.
func OpenUnchecked(path string) (*File, error) {
	f, err := userfile.Open(context.Background(), path, userfile.Regular)
	if err != nil {
		return nil, err
	}
	file := &File{path: path, page: os.Getpagesize(), control: f, unchecked: true}
	if err := file.inspectUnchecked(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return file, nil
}

func (f *File) inspectUnchecked() error {
	st, err := f.control.Stat()
	if err != nil {
		return err
	}
	f.size = st.Size()
	switch {
	case f.size == 0:
		return errors.New("it has 0 bytes: there is nothing to read")
	}
	return f.checkAllocated(context.Background(), st)
}

// A Maker opens, and if need be makes, the files of a workload of its own. READBENCH_FILE and READBENCH_SIZE are not set.
type Maker func(ctx context.Context, c *Config) ([]*File, error)

// NewSuiteFiles is NewSuite on files of a workload's own, which are the suite's from then on.
func NewSuiteFiles(ctx context.Context, c *Config, out io.Writer, open Maker) (*Suite, error) {
	for _, v := range []struct{ name, value string }{{"FILE", c.File}, {"SIZE", sizeSet(c.Size)}} {
		if v.value != "" {
			return nil, badValue(v.name, v.value, errors.New("this workload reads files of its own; leave it out"))
		}
	}
	fs, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	if len(fs) == 0 {
		return nil, errors.New("the workload has no files to read")
	}
	return newSuite(c, out, fs)
}

// sizeSet is a size as a variable sets it, empty if it did not.
func sizeSet(n Size) string {
	if n == 0 {
		return ""
	}
	return n.String()
}

// claiming is a Maker whose files other runs are kept off.
func claiming(open Maker) Maker {
	return func(ctx context.Context, c *Config) ([]*File, error) {
		fs, err := open(ctx, c)
		if err != nil {
			return nil, err
		}
		if err := files(fs).claim(ctx, c); err != nil {
			return nil, errors.Join(err, files(fs).close())
		}
		return fs, nil
	}
}

var sharedFiles struct {
	once  sync.Once
	suite *Suite
	err   error
}

// StartFiles is Start for a workload that reads files of its own: open is called once in a process, by the first call.
// Other runs are kept off the files from then on (READBENCH_SHARE).
func StartFiles(b *testing.B, open Maker) *Suite {
	b.Helper()
	s := &sharedFiles
	s.once.Do(func() {
		var c *Config
		if c, s.err = Load(os.Environ()); s.err != nil {
			return
		}
		ctx, cancel := (&Suite{config: c}).setupContext()
		defer cancel()
		if s.suite, s.err = NewSuiteFiles(ctx, c, os.Stdout, claiming(open)); s.err != nil {
			s.err = c.deadline(ctx, s.err)
		}
	})
	switch {
	case errors.Is(s.err, ErrUnsupported):
		skip(b, s.err)
	case s.err != nil:
		b.Fatal(s.err)
	}
	return s.suite
}
