package datafile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readbench/suite/internal/testfile"
)

// A good file passes, whatever its size is in chunks; progress reaches the size.
func TestCheckAllAcceptsTheContent(t *testing.T) {
	f := testfile.Of(t, filled(1, 0, 5*checkChunk+BlockSize))
	for _, size := range []int64{0, 1, BlockSize, checkChunk - 1, checkChunk, checkChunk + 1, 5*checkChunk + BlockSize} {
		var reached atomic.Int64
		err := New(1).CheckAll(t.Context(), f, size, func(done int64) { reached.Store(max(reached.Load(), done)) })
		if err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
		if got := reached.Load(); got != size {
			t.Errorf("%d bytes: progress ends at %d", size, got)
		}
	}
	if err := New(1).CheckAll(t.Context(), f, checkChunk, nil); err != nil {
		t.Errorf("without progress: %v", err)
	}
}

// Several chunks are checked at a time, and a bad block is soonest found where it is the first of its chunk.
// The error names the first of the file all the same, and the file.
func TestCheckAllNamesTheFirstBadBlock(t *testing.T) {
	const chunks, perChunk = 16, checkChunk / BlockSize
	p := filled(1, 0, chunks*checkChunk)
	for chunk := 3; chunk < chunks; chunk++ {
		p[chunk*checkChunk] ^= 1
	}
	const first = 2*checkChunk + perChunk*BlockSize - 1 // the last byte of chunk 2
	p[first] ^= 1
	f := testfile.Of(t, p)
	want := fmt.Sprintf("byte %d (block %d)", first, first/BlockSize)
	for range 20 {
		err := New(1).CheckAll(t.Context(), f, chunks*checkChunk, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), f.Name()) {
			t.Fatalf("the first bad one is %s: %v", want, err)
		}
	}
}

// A bad block beyond the bytes that were asked for does not matter.
func TestCheckAllLooksNoFurther(t *testing.T) {
	p := filled(1, 0, 2*BlockSize)
	p[BlockSize] ^= 1
	f := testfile.Of(t, p)
	if err := New(1).CheckAll(t.Context(), f, BlockSize, nil); err != nil {
		t.Errorf("the first block is good: %v", err)
	}
	if err := New(1).CheckAll(t.Context(), f, BlockSize+1, nil); err == nil {
		t.Error("one byte more is bad, and accepted")
	}
}

func TestCheckAllRefusesATruncatedFile(t *testing.T) {
	f := testfile.Of(t, filled(1, 0, 2*checkChunk+100))
	err := New(1).CheckAll(t.Context(), f, 3*checkChunk, nil)
	if !errors.Is(err, io.EOF) || !strings.Contains(err.Error(), f.Name()) {
		t.Errorf("a file that ends early: %v", err)
	}
}

func TestCheckAllStopsWhenItsContextEnds(t *testing.T) {
	const chunks = 16
	f := testfile.Of(t, filled(1, 0, chunks*checkChunk))
	ctx, cancel := context.WithCancel(t.Context())
	var calls atomic.Int64
	err := New(1).CheckAll(ctx, f, chunks*checkChunk, func(int64) { calls.Add(1); cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled after the first chunk: %v", err)
	}
	if calls.Load() == chunks {
		t.Error("it went on to the end")
	}
}
