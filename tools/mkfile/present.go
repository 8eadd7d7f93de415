package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/readbench"
)

// mayWrite returns an error if making path would lose something, or cannot work.
func mayWrite(path string, o options) error {
	if err := mayReplace(path, o); err != nil {
		return err
	}
	part := path + ".part"
	block, _, err := firstBlock(part)
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

func mayReplace(path string, o options) error {
	block, size, err := firstBlock(path)
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
		return fmt.Errorf("%s is there, a data file of %s and seed %d: name another path, or replace it with -force", path, readbench.Size(size), c.Seed())
	}
	return fmt.Errorf("%s is there and is no data file: name another path, or replace it with -force, and what it holds is lost", path)
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
func firstBlock(path string) (block []byte, size int64, err error) {
	f, size, err := openRegular(path)
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

// openRegular opens a file for reading. It looks before it opens: opening a pipe would wait.
func openRegular(path string) (f *os.File, size int64, err error) {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, 0, err
	case st.IsDir():
		return nil, 0, errors.New("it is a directory, not a file")
	case !st.Mode().IsRegular():
		return nil, 0, fmt.Errorf("it is a device, pipe or socket (mode %v), not a regular file", st.Mode())
	}
	f, err = os.Open(path)
	return f, st.Size(), err
}
