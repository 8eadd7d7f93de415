package rerank

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/readbench/suite/internal/chunks"
	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/userfile"
)

// makeFile makes the file of vectors at path unless it is there. It is written beside its place as PATH.part, synced, and
// renamed when it is whole; a lock on PATH.lock keeps a second process waiting, which then finds it made. What a process
// that died has left is written over.
func makeFile(ctx context.Context, path string, l layout, s *space) (err error) {
	if ok, err := present(ctx, path, l, s); ok || err != nil {
		return err
	}
	defer notice.Slow("making the file of vectors %s, %d bytes", path, l.size())()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("making a directory for the file of vectors: %w; set XDG_CACHE_HOME", err)
	}
	lock, err := lockFile(ctx, path+".lock")
	if err != nil {
		return fmt.Errorf("making %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()    // also unlocks
	if ok, err := present(ctx, path, l, s); ok || err != nil { // by who had the lock before
		return err
	}
	part := path + ".part"
	if err := writeFile(ctx, part, l, s); err != nil {
		return errors.Join(fmt.Errorf("making %s: %w", path, err), os.Remove(part))
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// present reports whether the file is there. It believes the name, once size, first and last vector are right: the others
// are checked when they are read.
func present(ctx context.Context, path string, l layout, s *space) (bool, error) {
	f, err := userfile.Open(ctx, path, userfile.Regular)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() != l.size() {
		return false, err
	}
	want, got := make([]float32, l.dim), make([]byte, l.bytes())
	for _, n := range []int{0, l.vectors - 1} {
		s.vector(want, n)
		if _, err := f.ReadAt(got, l.place(int32(n)).Off); err != nil || !bytes.Equal(got, asBytes(want)) {
			return false, err
		}
	}
	return true, nil
}

// lockFile takes the lock, which lasts until the file is closed. The lock file stays: who removed it would let two in.
func lockFile(ctx context.Context, name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if err := filelock.Wait(ctx, f, filelock.Exclusive); err != nil {
		return nil, errors.Join(fmt.Errorf("waiting for the process that holds %s: %w", name, err), f.Close())
	}
	return f, nil
}

// writeFile writes all vectors, several pieces at a time.
func writeFile(ctx context.Context, path string, l layout, s *space) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	piece := max(1, (4<<20)/l.stride) * l.stride
	zeros := make([]byte, l.size()-int64(l.vectors)*l.stride)
	err = chunks.Each(ctx, int64(l.vectors)*l.stride, piece, runtime.GOMAXPROCS(0), chunks.Heap, func(p []byte, off int64) error {
		v := make([]float32, l.dim)
		for at := int64(0); at < int64(len(p)); at += l.stride { // what is between vectors was zero, and stays so
			s.vector(v, int((off+at)/l.stride))
			copy(p[at:], asBytes(v))
		}
		_, err := f.WriteAt(p, off)
		return err
	}, nil)
	if err == nil {
		_, err = f.WriteAt(zeros, int64(l.vectors)*l.stride)
	}
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
