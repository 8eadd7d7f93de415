// Package filelock locks files against other processes (flock(2)), and tells which processes lock or use one.
//
// A lock belongs to an open file, is advisory, needs no right to write, and ends when the file is closed: at the latest
// with the process, in whatever way it ends. Programs that a process starts do not inherit it, as Go's descriptors are
// closed on exec.
package filelock

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Mode says what a lock keeps out.
type Mode int

// The modes.
const (
	Exclusive Mode = unix.LOCK_EX // any other lock
	Shared    Mode = unix.LOCK_SH // exclusive locks
)

var (
	// ErrHeld is wrapped when another open file, of this process or another, has a lock that keeps this one out.
	ErrHeld = errors.New("it is locked")
	// ErrUnsupported is wrapped where the file system has no such locks. Some network file systems have none; NFS has no
	// exclusive one for a file that is open for reading only.
	ErrUnsupported = errors.New("its file system has no such locks")
)

// Try takes a lock on f, or changes the one that f has, without waiting. Closing f unlocks it.
func Try(f *os.File, mode Mode) error {
	for {
		switch err := unix.Flock(int(f.Fd()), int(mode)|unix.LOCK_NB); err {
		case nil:
			return nil
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return fmt.Errorf("locking %s: %w", f.Name(), ErrHeld)
		case unix.ENOLCK, unix.EOPNOTSUPP, unix.ENOSYS, unix.EBADF:
			return fmt.Errorf("locking %s: %w: %w", f.Name(), ErrUnsupported, err)
		default:
			return fmt.Errorf("locking %s: %w", f.Name(), err)
		}
	}
}

// Wait is Try that waits as long as another lock is in the way, or until ctx ends: an error that wraps that of ctx.
func Wait(ctx context.Context, f *os.File, mode Mode) error {
	const pause = 50 * time.Millisecond
	for {
		err := Try(f, mode)
		if !errors.Is(err, ErrHeld) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}
