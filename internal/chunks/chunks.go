// Package chunks does something to a long range, piece by piece, several pieces at a time.
package chunks

import (
	"context"
	"sync"
)

// Each cuts 0…size into chunks of the given length, the last one shorter, and calls f for each, from several
// workers at a time. newBuffer makes each worker's buffer of length bytes, of which f gets as much as its chunk
// is long; free, if not nil, takes it back.
//
// When f fails or ctx ends, no new chunk is begun. The error of the first chunk that failed, in the order of
// the range, is returned. progress, if not nil, is told the bytes done so far, by one worker at a time.
func Each(ctx context.Context, size, length int64, workers int, b Buffers, f func(p []byte, off int64) error, progress func(done int64)) error {
	w := work{size: size, length: length, progress: progress, failedAt: size}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			buf, err := b.New(int(length))
			if err != nil {
				w.fail(0, err)
				return
			}
			defer func() {
				if err := b.Free(buf); err != nil {
					w.fail(0, err)
				}
			}()
			for off, ok := w.next(); ok; off, ok = w.next() {
				p := buf[:min(length, size-off)]
				err := ctx.Err()
				if err == nil {
					err = f(p, off)
				}
				if err != nil {
					w.fail(off, err)
					return
				}
				w.finished(int64(len(p)))
			}
		})
	}
	wg.Wait()
	return w.err
}

// Buffers makes the workers' buffers.
type Buffers struct {
	New  func(n int) ([]byte, error)
	Free func([]byte) error
}

// Heap makes buffers on Go's heap.
var Heap = Buffers{
	New:  func(n int) ([]byte, error) { return make([]byte, n), nil },
	Free: func([]byte) error { return nil },
}

// work is what the workers share.
type work struct {
	mu           sync.Mutex
	size, length int64
	at, done     int64
	progress     func(int64)
	failedAt     int64
	err          error
}

func (w *work) next() (off int64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.at >= w.size || w.err != nil {
		return 0, false
	}
	off = w.at
	w.at += w.length
	return off, true
}

func (w *work) finished(n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done += n
	if w.progress != nil {
		w.progress(w.done)
	}
}

func (w *work) fail(off int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil || off < w.failedAt {
		w.failedAt, w.err = off, err
	}
}
