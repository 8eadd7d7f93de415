package datafile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/chunks"
	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/userfile"
)

const (
	writeChunk = 4 << 20 // bytes of one write
	writers    = 4       // writes under way at a time
)

// Spec says which file is wanted.
type Spec struct {
	Path string
	Size int64 // bytes, a positive multiple of BlockSize
	Seed uint64
	// Force makes the file anew even if the right one is there. The old one is replaced when the new one is whole.
	Force bool
	// Progress, if not nil, is told the bytes written so far, by one writer at a time.
	Progress func(done int64)
}

// Create makes the data file of s unless one of the right size and seed is there (and Force is off); made says
// whether it did.
//
// The file is written beside its final place as PATH.part, all blocks allocated, in parallel and past the page
// cache where the file system allows it, synced, and renamed when whole. A lock on the part file keeps a second
// process waiting, which then finds the file made. A process that dies leaves the part file without its lock;
// the next one starts over in it.
func Create(ctx context.Context, s Spec) (made bool, err error) {
	if s.Size <= 0 || s.Size%BlockSize != 0 {
		return false, fmt.Errorf("making %s: size %d is not a positive multiple of %d", s.Path, s.Size, BlockSize)
	}
	part, err := lockPart(ctx, s.Path+".part", func() bool { return !s.Force && present(ctx, s) })
	if err != nil {
		return false, fmt.Errorf("making %s: %w", s.Path, err)
	}
	if part == nil {
		return false, nil
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("making %s: %w", s.Path, err), os.Remove(part.Name()))
		}
		err = errors.Join(err, part.Close()) // also unlocks
	}()
	if err := allocate(part, s.Size); err != nil {
		return false, err
	}
	if err := write(ctx, part, s); err != nil {
		return false, err
	}
	if err := part.Sync(); err != nil {
		return false, err
	}
	if err := os.Rename(part.Name(), s.Path); err != nil {
		return false, err
	}
	return true, syncDir(filepath.Dir(s.Path))
}

// present reports whether the file of s is there: right size, right first block. Open looks closer.
func present(ctx context.Context, s Spec) bool {
	f, err := userfile.Open(ctx, s.Path, userfile.Regular)
	if err != nil {
		return false
	}
	defer f.Close()
	st, err := f.Stat()
	block := make([]byte, BlockSize)
	if err != nil || st.Size() != s.Size {
		return false
	}
	if _, err := f.ReadAt(block, 0); err != nil {
		return false
	}
	return New(s.Seed).Check(block, 0)
}

// lockPart opens and locks the part file. It returns nil if done says that another process has made the file meanwhile.
func lockPart(ctx context.Context, name string, done func() bool) (*os.File, error) {
	for {
		if done() {
			return nil, nil
		}
		f, err := openPart(name)
		if err != nil {
			return nil, err
		}
		if err := filelock.Wait(ctx, f, filelock.Exclusive); err != nil {
			return nil, errors.Join(fmt.Errorf("waiting for the process that is making %s: %w", name, err), f.Close())
		}
		// Who had the lock before may have renamed or removed the file: then this is no longer the part file.
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(mine, now) && !done() {
			return f, nil
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(err, f.Close())
		} else if err == nil && os.SameFile(mine, now) { // made by somebody else, and this part file is a left-over
			if err := os.Remove(name); err != nil {
				return nil, errors.Join(err, f.Close())
			}
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// openPart opens the part file, making it if it is missing. A pipe of that name does not wait when it is opened for
// reading and writing; it is refused afterwards.
func openPart(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|unix.O_NONBLOCK|unix.O_NOCTTY, 0o644)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil {
		err = userfile.Check(st, userfile.Regular)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w; move that away", name, err), f.Close())
	}
	return f, nil
}

// write fills the file, several chunks at a time.
func write(ctx context.Context, part *os.File, s Spec) error {
	direct, err := openDirect(part.Name())
	if err != nil {
		return err
	}
	content := New(s.Seed)
	err = chunks.Each(ctx, s.Size, writeChunk, writers, aligned, func(p []byte, off int64) error {
		content.Fill(p, off)
		_, err := direct.WriteAt(p, off)
		return err
	}, s.Progress)
	return errors.Join(err, direct.Close())
}

// aligned makes buffers that start on a page, as O_DIRECT wants it.
var aligned = chunks.Buffers{
	New: func(n int) ([]byte, error) {
		p, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			return nil, fmt.Errorf("allocating a buffer of %d bytes: %w", n, err)
		}
		return p, nil
	},
	Free: unix.Munmap,
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
