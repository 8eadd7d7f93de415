package datafile

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/readbench/suite/internal/chunks"
)

// checkChunk is the size of one read of CheckAll, in bytes.
const checkChunk = 1 << 20

// CheckAll reads the first size bytes of f, several chunks at a time, and returns an error that names the first bad
// block, nil if all is the content. progress, if not nil, is told the bytes checked so far.
func (c Content) CheckAll(ctx context.Context, f *os.File, size int64, progress func(done int64)) error {
	err := chunks.Each(ctx, size, checkChunk, runtime.NumCPU()+1, chunks.Heap, func(p []byte, off int64) error {
		if _, err := f.ReadAt(p, off); err != nil {
			return fmt.Errorf("reading %d bytes at %d: %w", len(p), off, err)
		}
		return c.Explain(p, off)
	}, progress)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name(), err)
	}
	return nil
}
