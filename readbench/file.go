package readbench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/extents"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/sh"
	"github.com/readbench/suite/internal/userfile"
)

const blockSize = datafile.BlockSize

// A File is what benchmarks read: a data file of known content, or any other regular file or block device. It
// is safe for concurrent use.
type File struct {
	path      string
	size      int64
	page      int
	control   *os.File          // for residency and eviction only; strategies open their own
	content   *datafile.Content // nil if the content is not known
	unchecked bool              // the workload's own: its ops check what they read
}

// OpenFile opens the file that c names. If it names none, the data file in the user's cache directory is
// opened, and made first if it is missing. A file that cannot be benchmarked (missing, too small, sparse, of
// another seed, damaged) is refused with the command that makes a right one.
//
// It does not keep other processes off the file, as Start does.
func OpenFile(ctx context.Context, c *Config) (*File, error) {
	return openFile(ctx, c, func(*os.File) error { return nil })
}

// openFile opens the file that c names, and claims it before it is read.
func openFile(ctx context.Context, c *Config, claim func(*os.File) error) (*File, error) {
	path := c.File
	if path == "" {
		size := c.Size
		if size == 0 {
			size = DefaultSize
		}
		var err error
		if path, err = DefaultFile(size, c.Seed); err != nil {
			return nil, err
		}
		if err := makeDefault(ctx, path, size, c.Seed); errors.Is(err, syscall.ENOSPC) {
			return nil, c.Blame(err, "SIZE")
		} else if err != nil {
			return nil, err
		}
	}
	if abs, err := filepath.Abs(path); err == nil { // so that messages say where it was looked for: go test runs in the package's directory
		path = abs
	}
	f, err := userfile.Open(ctx, path, userfile.RegularOrDisk)
	if err != nil {
		return nil, c.Blame(fmt.Errorf("%w; %s", err, remedy(c, path, nil, nil)), "FILE")
	}
	if err := claim(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	file := &File{path: path, page: os.Getpagesize(), control: f}
	if err := file.inspect(ctx, c); err != nil {
		return nil, errors.Join(c.Blame(fmt.Errorf("%s: %w; %s", path, err, remedy(c, path, file, err)), "FILE"), f.Close())
	}
	return file, nil
}

// part is the first size bytes of f, as a file that is closed with it.
func (f *File) part(size int64) *File {
	p := *f
	p.size = size
	return &p
}

func makeDefault(ctx context.Context, path string, size Size, seed uint64) error {
	defer notice.Slow("making the data file %s, %s", path, size)()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a directory for the data file: %w; set %sFILE", err, EnvPrefix)
	}
	_, err := datafile.Create(ctx, datafile.Spec{Path: path, Size: int64(size), Seed: seed})
	return err
}

// errDataFile is wrapped by what is wrong with a data file of ours.
var errDataFile = errors.New("it is a data file")

// remedy is the command that makes a right file. It replaces only a data file, and keeps its size unless
// READBENCH_SIZE says another one.
func remedy(c *Config, path string, f *File, err error) string {
	command, size := []string{"go", "run", "github.com/readbench/suite/tools/mkfile"}, c.Size
	if errors.Is(err, errDataFile) {
		command = append(command, "-force")
		if size == 0 {
			size = Size((f.size + blockSize - 1) / blockSize * blockSize)
		}
	}
	if size == 0 {
		size = DefaultSize
	}
	return "a right one is made by: " + sh.Command(append(command, "-size", size.String(), "-seed", strconv.FormatUint(c.Seed, 10), path)...)
}

// inspect finds out size and content of the file, and whether it can be used.
func (f *File) inspect(ctx context.Context, c *Config) error {
	st, err := f.control.Stat()
	if err != nil {
		return err
	}
	whole, err := f.control.Seek(0, io.SeekEnd) // tells the size of devices, too
	if err != nil {
		return fmt.Errorf("its size: %w", err)
	}
	f.size = whole
	if c.Size != 0 {
		f.size = int64(c.Size)
	}
	switch {
	case whole < f.size:
		return c.Blame(fmt.Errorf("it has %d bytes, which are fewer", whole), "SIZE")
	case f.size == 0:
		return errors.New("it has 0 bytes: there is nothing to read")
	case len(c.ReadSize) > 0 && f.size <= int64(slices.Max(c.ReadSize)):
		return c.Blame(fmt.Errorf("it has %d bytes, too few for reads of %s", f.size, slices.Max(c.ReadSize)), "READ_SIZE")
	case st.Mode().IsRegular():
		if err := f.checkAllocated(ctx, st); err != nil {
			return err
		}
	}
	return f.identify(c, whole)
}

// fullCopy has every byte written: cp makes neither holes of zeros nor extents that both files share.
func fullCopy(path string) string {
	return "a full copy is made by: cp --reflink=never --sparse=never " + sh.Command(path, path+".full")
}

// checkAllocated refuses a file whose bytes do not all lie on the device: a sparse one, and one with extents that were never
// written, are compressed, or lie among the file system's own records.
func (f *File) checkAllocated(ctx context.Context, st os.FileInfo) error {
	if n := allocated(st); n >= 0 && n < st.Size() {
		return fmt.Errorf("it is sparse (%d of %d bytes are allocated): holes are not read from the device (%s)", n, st.Size(), fullCopy(f.path))
	}
	defer notice.Slow("asking for the extents of %s", f.path)()
	m, err := extents.Of(ctx, f.control, f.size)
	if err != nil {
		return err
	}
	if err := m.Err(); err != nil {
		remedy := fullCopy(f.path)
		if m.Unwritten+m.Hole == 0 {
			remedy = "take a copy on a file system that stores it as it is"
		}
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return nil
}

// identify looks whether this is a data file, and if so, whether it is the right one and undamaged as far as a
// sample tells.
func (f *File) identify(c *Config, whole int64) error {
	block := make([]byte, blockSize)
	if whole < blockSize {
		return nil
	}
	if _, err := f.control.ReadAt(block, 0); err != nil {
		return err
	}
	content, ok := datafile.Identify(block)
	if !ok {
		return nil
	}
	if content.Seed() != c.Seed {
		return badValue("SEED", strconv.FormatUint(c.Seed, 10), fmt.Errorf("%w of seed %d", errDataFile, content.Seed()))
	}
	if whole%blockSize != 0 {
		return fmt.Errorf("%w, but truncated: %d bytes are no multiple of %d", errDataFile, whole, blockSize)
	}
	const sample = 64
	blocks := whole / blockSize
	rng := rand.New(rand.NewPCG(c.Seed, uint64(blocks)))
	for i := range sample {
		at := (blocks - 1) * blockSize // the last one first
		if i > 0 {
			at = rng.Int64N(blocks) * blockSize
		}
		if _, err := f.control.ReadAt(block, at); err != nil {
			return err
		}
		if err := content.Explain(block, at); err != nil {
			return fmt.Errorf("%w, but damaged: %w", errDataFile, err)
		}
	}
	f.content = &content
	return nil
}

// Path is the file's path.
func (f *File) Path() string { return f.path }

// Size is how many bytes, from the start, are benchmarked.
func (f *File) Size() int64 { return f.size }

// PageSize is the system's page size in bytes, to which strategies round hints.
func (f *File) PageSize() int { return f.page }

// Checked reports whether the content is known, so that reads are checked against it.
func (f *File) Checked() bool { return f.content != nil }

// Open opens the file for reading, with further flags of open(2). Each call gives a descriptor with advice and
// read-ahead state of its own, which the caller closes. It is an error if there is another file at the path meanwhile.
func (f *File) Open(flags int) (*os.File, error) { return userfile.Again(f.control, flags) }

// Check returns an error that says what is wrong with p, which was read as r, or nil. It checks every byte, if
// the content is known.
func (f *File) Check(p []byte, r Range) error {
	if len(p) != r.N {
		return fmt.Errorf("%s: a read of %d bytes at %d gave %d", f.path, r.N, r.Off, len(p))
	}
	if f.content == nil {
		return nil
	}
	if err := f.content.Explain(p, r.Off); err != nil {
		return fmt.Errorf("%s: a read of %d bytes at %d gave wrong content: %w", f.path, r.N, r.Off, err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.control.Close() }
