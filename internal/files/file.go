// Package files opens what is measured: a data file of known content, any other regular file or block device, or the files that
// a workload brings. It finds out whether they can be measured, keeps other runs off them, and checks what was read. It knows
// the configuration, nothing of how files are read or measured.
package files

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
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

const blockSize = datafile.BlockSize

// A File is what is measured: a data file of known content, or any other regular file or block device. What of it a strategy
// may know is its strategy.File. It is safe for concurrent use.
type File struct {
	*strategy.File
	Control   *os.File          // for residency and eviction only; strategies open their own
	content   *datafile.Content // nil if the content is not known
	unchecked bool              // the workload's own: its ops check what they read
}

// newFile is the first size bytes of what control has open.
func newFile(control *os.File, size int64) *File {
	return &File{File: described(control, size), Control: control}
}

func described(control *os.File, size int64) *strategy.File {
	return strategy.NewFile(control.Name(), size, func(flags int) (*os.File, error) { return userfile.Again(control, flags) })
}

// Open opens the file that c names. If it names none, the data file in the user's cache directory is
// opened, and made first if it is missing. A file that cannot be benchmarked (missing, too small, sparse, of
// another seed, damaged) is refused with the command that makes a right one. alone keeps other runs off it (READBENCH_SHARE).
// The caller closes it.
func Open(ctx context.Context, c *config.Config, alone bool) (*File, error) {
	path := c.File
	if path == "" {
		size := c.Size
		if size == 0 {
			size = config.DefaultSize
		}
		var err error
		if path, err = config.DefaultFile(size, c.Seed); err != nil {
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
	control, err := userfile.Open(ctx, path, userfile.RegularOrDisk)
	if err != nil {
		return nil, c.Blame(fmt.Errorf("%w; %s", err, remedy(c, path, 0, nil)), "FILE")
	}
	if alone {
		if err := claim(ctx, c, control); err != nil {
			return nil, errors.Join(err, control.Close())
		}
	}
	f, size, err := inspect(ctx, c, control)
	if err != nil {
		return nil, errors.Join(c.Blame(fmt.Errorf("%s: %w; %s", path, err, remedy(c, path, size, err)), "FILE"), control.Close())
	}
	return f, nil
}

// Part is the first size bytes of f, as a file that is closed with it.
func (f *File) Part(size int64) *File {
	p := *f
	p.File = described(f.Control, size)
	return &p
}

func makeDefault(ctx context.Context, path string, size config.Size, seed uint64) error {
	defer notice.Slow("making the data file %s, %s", path, size)()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a directory for the data file: %w; set %sFILE", err, config.EnvPrefix)
	}
	_, err := datafile.Create(ctx, datafile.Spec{Path: path, Size: int64(size), Seed: seed})
	return err
}

// errDataFile is wrapped by what is wrong with a data file of ours.
var errDataFile = errors.New("it is a data file")

// remedy is the command that makes a right file. It replaces only a data file, and keeps its size, whole bytes, unless
// READBENCH_SIZE says another one.
func remedy(c *config.Config, path string, whole int64, err error) string {
	command, size := []string{"go", "run", "github.com/readbench/suite/tools/mkfile"}, c.Size
	if errors.Is(err, errDataFile) {
		command = append(command, "-force")
		if size == 0 {
			size = config.Size((whole + blockSize - 1) / blockSize * blockSize)
		}
	}
	if size == 0 {
		size = config.DefaultSize
	}
	return "a right one is made by: " + sh.Command(append(command, "-size", size.String(), "-seed", strconv.FormatUint(c.Seed, 10), path)...)
}

// inspect finds out size and content of a file, and whether it can be used. It tells the size with an error, too.
func inspect(ctx context.Context, c *config.Config, control *os.File) (f *File, size int64, err error) {
	st, err := control.Stat()
	if err != nil {
		return nil, 0, err
	}
	whole, err := control.Seek(0, io.SeekEnd) // tells the size of devices, too
	if err != nil {
		return nil, 0, fmt.Errorf("its size: %w", err)
	}
	size = whole
	if c.Size != 0 {
		size = int64(c.Size)
	}
	switch {
	case whole < size:
		return nil, size, c.Blame(fmt.Errorf("it has %d bytes, which are fewer", whole), "SIZE")
	case size == 0:
		return nil, size, errors.New("it has 0 bytes: there is nothing to read")
	case len(c.ReadSize) > 0 && size <= int64(slices.Max(c.ReadSize)):
		return nil, size, c.Blame(fmt.Errorf("it has %d bytes, too few for reads of %s", size, slices.Max(c.ReadSize)), "READ_SIZE")
	case st.Mode().IsRegular():
		if err := checkAllocated(ctx, control, size, st); err != nil {
			return nil, size, err
		}
	}
	f = newFile(control, size)
	return f, size, f.identify(c, whole)
}

// fullCopy has every byte written: cp makes neither holes of zeros nor extents that both files share.
func fullCopy(path string) string {
	return "a full copy is made by: cp --reflink=never --sparse=never " + sh.Command(path, path+".full")
}

// checkAllocated refuses a file whose bytes do not all lie on the device: a sparse one, and one with extents that were never
// written, are compressed, or lie among the file system's own records.
func checkAllocated(ctx context.Context, f *os.File, size int64, st os.FileInfo) error {
	if n := allocated(st); n >= 0 && n < st.Size() {
		return fmt.Errorf("it is sparse (%d of %d bytes are allocated): holes are not read from the device (%s)", n, st.Size(), fullCopy(f.Name()))
	}
	defer notice.Slow("asking for the extents of %s", f.Name())()
	m, err := extents.Of(ctx, f, size)
	if err != nil {
		return err
	}
	if err := m.Err(); err != nil {
		remedy := fullCopy(f.Name())
		if m.Unwritten+m.Hole == 0 {
			remedy = "take a copy on a file system that stores it as it is"
		}
		return fmt.Errorf("%w (%s)", err, remedy)
	}
	return nil
}

// identify looks whether this is a data file, and if so, whether it is the right one and undamaged as far as a
// sample tells.
func (f *File) identify(c *config.Config, whole int64) error {
	block := make([]byte, blockSize)
	if whole < blockSize {
		return nil
	}
	if _, err := f.Control.ReadAt(block, 0); err != nil {
		return err
	}
	content, ok := datafile.Identify(block)
	if !ok {
		return nil
	}
	if content.Seed() != c.Seed {
		return config.BadValue("SEED", strconv.FormatUint(c.Seed, 10), fmt.Errorf("%w of seed %d", errDataFile, content.Seed()))
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
		if _, err := f.Control.ReadAt(block, at); err != nil {
			return err
		}
		if err := content.Explain(block, at); err != nil {
			return fmt.Errorf("%w, but damaged: %w", errDataFile, err)
		}
	}
	f.content = &content
	return nil
}

// Checked says whether and by whom what is read is checked, for configuration lines: on, off, or by the workload.
func (f *File) Checked() string {
	switch {
	case f.unchecked:
		return "by the workload"
	case f.content == nil:
		return "off (not a data file of readbench)"
	}
	return "on"
}

// Unchecked reports whether a workload brought the file.
func (f *File) Unchecked() bool { return f.unchecked }

// Check returns an error that says what is wrong with p, which was read as r, or nil. It checks every byte, if
// the content is known.
func (f *File) Check(p []byte, r strategy.Range) error {
	if len(p) != r.N {
		return fmt.Errorf("%s: a read of %d bytes at %d gave %d", f.Path(), r.N, r.Off, len(p))
	}
	if f.content == nil {
		return nil
	}
	if err := f.content.Explain(p, r.Off); err != nil {
		return fmt.Errorf("%s: a read of %d bytes at %d gave wrong content: %w", f.Path(), r.N, r.Off, err)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.Control.Close() }
