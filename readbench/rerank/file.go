package rerank

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/readbench/suite/internal/chunks"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench"
)

// path is where the file of vectors lies: in the user's cache directory, beside the data files of the other workloads.
func (s spec) path() (string, error) {
	data, err := readbench.DefaultFile(readbench.DefaultSize, s.seed)
	return filepath.Join(filepath.Dir(data), s.fileName()), err
}

// open opens the file of vectors, making it if it is missing. Its name tells what is in it; that it is, a sample shows.
func (s spec) open(ctx context.Context, path string) (*readbench.File, error) {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := s.make(ctx, path); err != nil {
			return nil, fmt.Errorf("making the file of vectors %s: %w", path, err)
		}
	}
	f, err := readbench.OpenUnchecked(path)
	if err != nil {
		return nil, err
	}
	if err := s.inspect(f); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w; remove it, and it will be made anew", path, err), f.Close())
	}
	return f, nil
}

// inspect compares size and some vectors.
func (s spec) inspect(f *readbench.File) (err error) {
	if want := int64(s.vectors) * s.stride(); f.Size() != want {
		return fmt.Errorf("it has %d bytes, %d vectors have %d", f.Size(), s.vectors, want)
	}
	fd, err := f.Open(0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fd.Close()) }()
	const sample = 64
	g := newGenerator(s)
	v, want, got := make([]float32, s.dim), make([]byte, s.size()), make([]byte, s.size())
	for k := range sample {
		i := (s.vectors - 1) * k / (sample - 1)
		g.vector(v, i)
		encode(want, v)
		if _, err := fd.ReadAt(got, int64(i)*s.stride()); err != nil {
			return err
		}
		if string(got) != string(want) {
			return fmt.Errorf("vector %d is not what it should be", i)
		}
	}
	return nil
}

// make writes the file under another name, and gives it its own when it is whole: a file that is there is complete.
func (s spec) make(ctx context.Context, path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer notice.Slow("making %d vectors of %d numbers, %s", s.vectors, s.dim, path)()
	f, err := os.CreateTemp(dir, filepath.Base(path)+".part-*")
	if err != nil {
		return err
	}
	defer func() {
		if f != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := s.write(ctx, f); err != nil {
		return err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	err = f.Close()
	f = nil
	return err
}

// write writes all vectors, some at a time on each processor.
func (s spec) write(ctx context.Context, f *os.File) error {
	shared := newGenerator(s)
	generators := sync.Pool{New: func() any { return &row{shared.clone(), make([]float32, s.dim)} }}
	stride := s.stride()
	together := max(1, 1<<20/stride) * stride
	return chunks.Each(ctx, int64(s.vectors)*stride, together, runtime.GOMAXPROCS(0), chunks.Heap, func(p []byte, off int64) error {
		r := generators.Get().(*row)
		defer generators.Put(r)
		clear(p)
		for at := int64(0); at < int64(len(p)); at += stride {
			r.vector(r.v, int((off+at)/stride))
			encode(p[at:], r.v)
		}
		_, err := f.WriteAt(p, off)
		return err
	}, nil)
}

// row is a generator and room for what it makes.
type row struct {
	*generator
	v []float32
}
