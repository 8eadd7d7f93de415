package memhog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/refusal"
)

// A Hog is locked memory. It is safe for concurrent use.
type Hog struct {
	root string

	mu     sync.Mutex
	chunks [][]byte
	bytes  int64
}

// chunk is how much is taken at a time, in bytes: between chunks the hog looks whether there is still enough, and
// whether it was told to stop. Smaller amounts are rounded to unit.
const (
	chunk = 64 << 20
	unit  = 1 << 20
)

// Take takes n bytes, rounded up to 1 MiB. It raises RLIMIT_MEMLOCK if that is needed and allowed; it stays
// raised. The caller closes the hog. Nothing stays taken if there is an error, also that of an ended ctx; one
// that wraps ErrUnsupported says that the floor or the limit on locked memory is in the way.
func Take(ctx context.Context, n int64) (*Hog, error) { return take(ctx, "/", n) }

// Leave takes so much that n bytes stay available (see Floor), give or take a few MiB, while nobody else takes or
// frees any. It is an error if no more than that is available now. Otherwise it is like Take.
func Leave(ctx context.Context, n int64) (*Hog, error) { return leave(ctx, "/", n) }

func take(ctx context.Context, root string, n int64) (*Hog, error) {
	if n <= 0 {
		return nil, fmt.Errorf("taking %d bytes: take at least one", n)
	}
	n = (n + unit - 1) / unit * unit
	available, err := Available(root)
	if err != nil {
		return nil, err
	}
	if available-n < Floor {
		return nil, &floorError{fmt.Sprintf("taking %d bytes", n), available}
	}
	return fill(ctx, root, n, func(taken int64) (int64, error) {
		next := min(chunk, n-taken)
		available, err := Available(root)
		if err == nil && available-next < Floor {
			err = &floorError{fmt.Sprintf("taking %d bytes, of which %d were taken when others took theirs", n, taken), available}
		}
		return next, err
	})
}

func leave(ctx context.Context, root string, n int64) (*Hog, error) {
	if n < Floor {
		return nil, refusal.Errorf(ErrUnsupported, "leaving %d bytes: at least %d must stay available", n, int64(Floor))
	}
	available, err := Available(root)
	if err != nil {
		return nil, err
	}
	total := (available - n) / unit * unit
	if total <= 0 {
		return nil, refusal.Errorf(ErrUnsupported, "leaving %d bytes: no more than %d are available now", n, available)
	}
	return fill(ctx, root, total, func(taken int64) (int64, error) {
		available, err := Available(root)
		// Never more than was there at first: others may free theirs all the time.
		return max(0, min(chunk, available-n, total-taken)) / unit * unit, err
	})
}

// fill takes what next says, chunk by chunk, until that is 0; it will be about total.
func fill(ctx context.Context, root string, total int64, next func(taken int64) (int64, error)) (_ *Hog, err error) {
	h := &Hog{root: root}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	before, err := locked()
	if err != nil {
		return nil, err
	}
	raise(uint64(before + total))
	for {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("taking memory: %w", err)
		}
		n, err := next(h.bytes)
		if err != nil {
			return nil, err
		}
		if n == 0 {
			return h, nil
		}
		if err := h.grow(n); err != nil {
			return nil, limitError(uint64(before+total), err)
		}
	}
}

// grow takes n bytes more.
func (h *Hog) grow(n int64) error {
	p, err := unix.Mmap(-1, 0, int(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("mmap of %d bytes: %w", n, err)
	}
	h.chunks = append(h.chunks, p)
	if err := unix.Mlock(p); err != nil { // touches all of it, too
		return fmt.Errorf("mlock of %d bytes: %w", n, err)
	}
	h.bytes += n
	return nil
}

// Bytes is how much is taken.
func (h *Hog) Bytes() int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.bytes
}

// Left is how many bytes are available now.
func (h *Hog) Left() (int64, error) { return Available(h.root) }

// Close gives all of it back. Afterwards it does nothing.
func (h *Hog) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, p := range h.chunks {
		if err := unix.Munmap(p); err != nil {
			errs = append(errs, fmt.Errorf("giving memory back: munmap: %w", err))
		}
	}
	h.chunks, h.bytes = nil, 0
	return errors.Join(errs...)
}

// raise raises RLIMIT_MEMLOCK, if it is lower, as far as this process may. Whether that is enough shows when
// memory is locked: the limit does not bind who has CAP_IPC_LOCK.
func raise(need uint64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit) != nil || limit.Cur >= need {
		return
	}
	if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: need, Max: max(need, limit.Max)}) != nil {
		unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: min(need, limit.Max), Max: limit.Max})
	}
}

// limitError says what is in the way if memory cannot be locked.
func limitError(need uint64, cause error) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur >= need {
		return fmt.Errorf("taking memory: %w", cause)
	}
	return refusal.Errorf(ErrUnsupported, "taking memory: %w: RLIMIT_MEMLOCK: need %d bytes, soft limit %d, hard limit %d; "+
		"what would help: sudo, or as root: ulimit -l %d (or a line \"USER hard memlock %[5]d\" in /etc/security/limits.conf)",
		cause, need, limit.Cur, limit.Max, (need+1023)>>10)
}

// locked is how many bytes of this process are locked already.
func locked() (int64, error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, fmt.Errorf("locked memory of this process: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "VmLck:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")), 10, 53)
			return kib << 10, err
		}
	}
	return 0, errors.New("locked memory of this process: no VmLck in /proc/self/status")
}
