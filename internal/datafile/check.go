package datafile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// checkChunk is the size of one read of CheckAll, in bytes.
const checkChunk = 1 << 20

// CheckAll reads the first size bytes of f, several chunks at a time, and returns an error that names the first bad
// block, nil if all is the content. progress, if not nil, is told the bytes checked so far, concurrently.
func (c Content) CheckAll(ctx context.Context, f *os.File, size int64, progress func(done int64)) error {
	var (
		next, done atomic.Int64
		wg         sync.WaitGroup
		mu         sync.Mutex
		firstOff   int64 = size
		first      error
	)
	report := func(off int64, err error) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil || off < firstOff {
			firstOff, first = off, err
		}
		next.Store(size) // later chunks do not matter; earlier ones are under way
	}
	for range runtime.NumCPU() + 1 {
		wg.Go(func() {
			buf := make([]byte, checkChunk)
			for {
				off := next.Add(checkChunk) - checkChunk
				if off >= size {
					return
				}
				p := buf[:min(checkChunk, size-off)]
				if _, err := f.ReadAt(p, off); err != nil {
					report(off, fmt.Errorf("reading %d bytes at %d: %w", len(p), off, err))
					return
				}
				if err := errors.Join(c.Explain(p, off), ctx.Err()); err != nil {
					report(off, err)
					return
				}
				if d := done.Add(int64(len(p))); progress != nil {
					progress(d)
				}
			}
		})
	}
	wg.Wait()
	if first != nil {
		return fmt.Errorf("%s: %w", f.Name(), first)
	}
	return nil
}
