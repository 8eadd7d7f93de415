package chunks

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// Every byte is done once, whatever the sizes; progress ends at the size.
func TestEachCoversTheRange(t *testing.T) {
	for _, tc := range []struct {
		size, length int64
		workers      int
	}{{0, 4, 2}, {1, 4, 3}, {4, 4, 1}, {1001, 7, 5}, {64, 64, 4}} {
		done := make([]int, tc.size)
		var mu sync.Mutex
		last := int64(0)
		err := Each(t.Context(), tc.size, tc.length, tc.workers, Heap, func(p []byte, off int64) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range p {
				done[off+int64(i)]++
			}
			return nil
		}, func(n int64) {
			if n <= last {
				t.Errorf("progress goes from %d to %d", last, n)
			}
			last = n
		})
		if err != nil || last != tc.size || slices.ContainsFunc(done, func(n int) bool { return n != 1 }) {
			t.Errorf("%+v: error %v, progress %d, done %v", tc, err, last, done)
		}
	}
}

// The error that comes first in the range is returned, also if a later chunk failed earlier; nothing new is begun.
func TestEachFails(t *testing.T) {
	first, second := errors.New("chunk 0"), errors.New("chunk 1")
	both := make(chan struct{})
	begun := 0
	var mu sync.Mutex
	err := Each(t.Context(), 100, 1, 2, Heap, func(_ []byte, off int64) error {
		mu.Lock()
		begun++
		mu.Unlock()
		if off == 1 {
			close(both)
			return second
		}
		<-both
		return first
	}, nil)
	if !errors.Is(err, first) || begun != 2 {
		t.Errorf("error %v after %d chunks were begun, want that of chunk 0, after 2", err, begun)
	}
}

func TestEachIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	begun := 0
	err := Each(ctx, 100, 1, 1, Heap, func([]byte, int64) error { begun++; cancel(); return nil }, nil)
	if !errors.Is(err, context.Canceled) || begun != 1 {
		t.Errorf("error %v after %d chunks", err, begun)
	}
}

// A buffer that cannot be made is an error, and every one that was made is freed.
func TestEachBuffers(t *testing.T) {
	boom := errors.New("no memory")
	var mu sync.Mutex
	made, freed := 0, 0
	b := Buffers{
		New: func(n int) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			if made == 2 {
				return nil, boom
			}
			made++
			return make([]byte, n), nil
		},
		Free: func([]byte) error { mu.Lock(); defer mu.Unlock(); freed++; return nil },
	}
	err := Each(t.Context(), 10, 1, 3, b, func([]byte, int64) error { return nil }, nil)
	if !errors.Is(err, boom) || freed != made {
		t.Errorf("error %v; %d buffers made, %d freed", err, made, freed)
	}
}
