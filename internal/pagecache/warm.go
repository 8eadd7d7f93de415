package pagecache

import (
	"context"
	"fmt"
	"os"

	"github.com/readbench/suite/internal/chunks"
	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/refusal"
)

// warmChunk is the size of one read of Warm, in bytes; warmReaders is how many run at a time.
const (
	warmChunk   = 1 << 20
	warmReaders = 8
)

// Warm reads the first size bytes of f into the page cache, several chunks at a time, and verifies that all pages
// are resident; an error that wraps ErrUnsupported says that they do not stay. It gives up when ctx ends.
func Warm(ctx context.Context, f *os.File, size int64) error {
	const (
		attempts = 3
		hopeless = 0.9 // resident share after reading everything, below which reading it again will not help
	)
	for tries := 0; ; tries++ {
		r, err := Resident(f, 0, size)
		if err != nil || r.Resident == r.Pages {
			return err
		}
		if tries == attempts || tries > 0 && r.Share() < hopeless {
			return refusal.Errorf(ErrUnsupported, "warming %s: after reading it %d times only %v: %s", f.Name(), tries, r,
				filelock.Blame(fmt.Sprintf("there is not enough free memory for %d bytes", size), f))
		}
		if err := ReadThrough(ctx, f, size); err != nil {
			return fmt.Errorf("warming %s: %w", f.Name(), err)
		}
	}
}

// ReadThrough reads the first size bytes of f once, several chunks at a time, whether they stay in the page cache or not.
// It gives up when ctx ends.
func ReadThrough(ctx context.Context, f *os.File, size int64) error {
	return chunks.Each(ctx, size, warmChunk, warmReaders, chunks.Heap, func(p []byte, off int64) error {
		_, err := f.ReadAt(p, off)
		return err
	}, nil)
}
