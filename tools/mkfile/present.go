package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/userfile"
	"github.com/readbench/suite/readbench/config"
)

// mayWrite returns an error if making path would lose something, or cannot work.
func mayWrite(ctx context.Context, path string, o options) error {
	if err := mayReplace(ctx, path, o); err != nil {
		return err
	}
	part := path + ".part"
	block, _, err := firstBlock(ctx, part)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making %s needs the name %s: %w; move that away", path, part, err)
	}
	// The part file of a process that died, or of one that is at work: its first block is there or not yet.
	if _, ours := datafile.Identify(block); !ours && len(bytes.Trim(block, "\x00")) > 0 {
		return fmt.Errorf("making %s needs the name %s, and there is a file that is no data file: move that away", path, part)
	}
	return nil
}

func mayReplace(ctx context.Context, path string, o options) error {
	block, size, err := firstBlock(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return mayAppear(path)
	}
	if err != nil {
		return fmt.Errorf("making %s: %w; name another path", path, err)
	}
	c, ours := datafile.Identify(block)
	switch {
	case o.force, size == 0, ours && size == int64(o.size) && c.Seed() == o.seed:
		return nil
	case ours:
		return fmt.Errorf("%s is there, a data file of %s and seed %d: name another path, or replace it with -force", path, config.Size(size), c.Seed())
	}
	return fmt.Errorf("%s is there and is no data file: name another path, or replace it with -force, and what it holds is lost", path)
}

// keepReadersOff locks the file that is to be replaced, if there is one. A benchmark that reads it would fail, or measure
// another file than it looks at. Closing the file unlocks it.
func keepReadersOff(ctx context.Context, path string) (*os.File, error) {
	f, _, err := openRegular(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("making %s: %w", path, err)
	}
	err = filelock.Try(f, filelock.Exclusive)
	if err == nil || errors.Is(err, filelock.ErrUnsupported) { // then no reader has a lock either
		return f, nil
	}
	if errors.Is(err, filelock.ErrHeld) {
		err = fmt.Errorf("it is in use by %s: wait for its end, or name another path", filelock.Names(filelock.Holders(f)))
	}
	return nil, errors.Join(fmt.Errorf("making %s: %w", path, err), f.Close())
}

// mayAppear returns an error if there is no place for path, which does not exist.
func mayAppear(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("making %s: it is a symbolic link to nothing: remove it, or name the path that it should point to", path)
	}
	if st, err := os.Stat(filepath.Dir(path)); err != nil || !st.IsDir() {
		return fmt.Errorf("making %s: there is no directory %s: make it first", path, filepath.Dir(path))
	}
	return nil
}

// firstBlock returns the first block of a regular file, or less of it if the file is shorter, and the file's size.
func firstBlock(ctx context.Context, path string) (block []byte, size int64, err error) {
	f, size, err := openRegular(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() // only read
	block = make([]byte, min(size, datafile.BlockSize))
	if _, err := f.ReadAt(block, 0); err != nil {
		return nil, 0, fmt.Errorf("reading its first block: %w", err)
	}
	return block, size, nil
}

// openRegular opens a file for reading, and tells its size.
func openRegular(ctx context.Context, path string) (f *os.File, size int64, err error) {
	if f, err = userfile.Open(ctx, path, userfile.Regular); err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, st.Size(), nil
}
