package pagecache

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/refusal"
	"github.com/readbench/suite/internal/sh"
)

const dropCachesFile = "/proc/sys/vm/drop_caches"

// An Evictor removes a file from the page cache.
type Evictor struct {
	// Off is where what is evicted begins, in bytes: a multiple of the page size, and of the largest folios if none is to stay.
	Off int64
	// Limit is the share of pages, 0…1, that may stay.
	Limit float64
	// DropAll allows /proc/sys/vm/drop_caches, which drops the caches of the whole machine, if root runs this
	// and nothing else helped. It is called before that is done, if not nil.
	DropAll func()
	// Unmap, if not nil, drops the caller's own mappings' pages first: a mapped page cannot be evicted.
	Unmap func() error
}

// Evict removes f, from Off on, from the page cache: it drops mapped pages, writes dirty ones back, advises
// POSIX_FADV_DONTNEED, and repeats until at most Limit of the bytes from Off to size is resident. It returns their
// residency afterwards. An error that wraps ErrUnsupported says that pages stayed, and the likely causes.
func (e Evictor) Evict(ctx context.Context, f *os.File, size int64) (Residency, error) {
	// A page may be in use for a moment (a fault, read-ahead under way, a per-processor list): later attempts
	// wait for that.
	pauses := []time.Duration{0, time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond, 100 * time.Millisecond}
	var r Residency
	if InMemory(f) {
		r, err := Resident(f, e.Off, size-e.Off)
		if err != nil {
			return r, err
		}
		return r, refusal.Errorf(ErrUnsupported, "evicting %s: it lies on tmpfs, whose pages are the file; use a file system on a disk", f.Name())
	}
	for _, pause := range pauses {
		if pause > 0 {
			time.Sleep(pause)
		}
		if err := ctx.Err(); err != nil {
			return r, fmt.Errorf("evicting %s: %w", f.Name(), err)
		}
		var err error
		if r, err = e.attempt(f, size); err != nil || r.Share() <= e.Limit {
			return r, err
		}
	}
	stayed := ""
	if e.DropAll != nil && os.Geteuid() == 0 {
		e.DropAll()
		if err := DropAll(); err != nil {
			stayed = "; " + err.Error()
		}
		var err error
		if r, err = e.attempt(f, size); err != nil || r.Share() <= e.Limit {
			return r, err
		}
	}
	who := fmt.Sprintf("does another process map it, write it or lock it in memory (sudo fuser -v %s shows who)?", sh.Quote(f.Name()))
	if users := filelock.Users(f); len(users) > 0 {
		who = "likely another process maps it, writes it or locks it in memory: " + filelock.Names(users)
	}
	return r, refusal.Errorf(ErrUnsupported, "evicting %s: %v, although it was advised away; %s%s", f.Name(), r, who, stayed)
}

func (e Evictor) attempt(f *os.File, size int64) (Residency, error) {
	if e.Unmap != nil {
		if err := e.Unmap(); err != nil {
			return Residency{}, err
		}
	}
	// Block devices and files that are open for reading only may be synced, too.
	if err := unix.Fdatasync(int(f.Fd())); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EROFS) {
		return Residency{}, fmt.Errorf("fdatasync %s: %w", f.Name(), err)
	}
	// To the end of the file: a page (or a larger folio) that is only partly in the range would stay.
	if err := unix.Fadvise(int(f.Fd()), e.Off, 0, unix.FADV_DONTNEED); err != nil {
		return Residency{}, fmt.Errorf("fadvise DONTNEED on %s: %w", f.Name(), err)
	}
	return Resident(f, e.Off, size-e.Off)
}

// DropAll drops the clean, unmapped pages of the whole machine's cache. It needs root.
func DropAll() error {
	unix.Sync()
	if err := os.WriteFile(dropCachesFile, []byte("1"), 0); err != nil {
		return fmt.Errorf("dropping the machine's page cache (needs root and a writable /proc/sys): %w", err)
	}
	return nil
}
