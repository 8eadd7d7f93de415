// Package userfile opens the files that users name, without waiting for what may never come: the writer of a pipe, the
// carrier of a terminal, the server of a network mount.
package userfile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/notice"
)

// A Kind is what a file may be.
type Kind int

// The kinds.
const (
	Regular       Kind = iota // a regular file
	RegularOrDisk             // a regular file or a block device
)

// Open opens a file for reading. What is not of the kind is refused and, unless it takes the name between two calls, not
// even opened: opening a device may do something. Open gives up as Within does. It is safe for concurrent use.
func Open(ctx context.Context, path string, kind Kind) (*os.File, error) {
	return open(ctx, path, kind, kernel{})
}

// Again opens f's path another time, with further flags of open(2), and refuses what is no longer the same file.
func Again(f *os.File, flags int) (*os.File, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	again, err := (kernel{}).open(f.Name(), flags)
	if err != nil {
		return nil, err
	}
	now, err := again.Stat()
	if err == nil && !os.SameFile(before, now) {
		err = fmt.Errorf("%s: there is another file of this name than when it was first opened: it was replaced meanwhile; run again", f.Name())
	}
	if err != nil {
		return nil, errors.Join(err, again.Close())
	}
	return again, nil
}

// Check returns an error if a file is not of the kind.
func Check(st fs.FileInfo, kind Kind) error {
	mode := st.Mode()
	disk := mode&(fs.ModeDevice|fs.ModeCharDevice) == fs.ModeDevice
	if mode.IsRegular() || disk && kind == RegularOrDisk {
		return nil
	}
	is := "something else"
	for _, k := range []struct {
		bits fs.FileMode
		name string
	}{
		{fs.ModeDir, "a directory"}, {fs.ModeNamedPipe, "a named pipe"}, {fs.ModeSocket, "a socket"},
		{fs.ModeCharDevice, "a character device"}, {fs.ModeDevice, "a block device"},
	} {
		if mode&k.bits != 0 {
			is = k.name
			break
		}
	}
	if kind == Regular {
		return fmt.Errorf("it is %s, not a regular file", is)
	}
	return fmt.Errorf("it is %s, neither a regular file nor a block device", is)
}

// system is what Open asks of the kernel: an interface for tests.
type system interface {
	stat(path string) (fs.FileInfo, error)
	open(path string, flags int) (*os.File, error)
}

func open(ctx context.Context, path string, kind Kind, sys system) (*os.File, error) {
	return Within(ctx, "opening "+path, func() (*os.File, error) {
		st, err := sys.stat(path)
		if err != nil {
			return nil, err
		}
		if err := Check(st, kind); err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		f, err := sys.open(path, 0)
		if err != nil {
			return nil, err
		}
		// Something else may have got the name meanwhile. Opening it did not wait, in any case.
		if st, err = f.Stat(); err == nil {
			err = Check(st, kind)
		}
		if err != nil {
			return nil, errors.Join(&fs.PathError{Op: "open", Path: path, Err: err}, f.Close())
		}
		return f, nil
	}, func(f *os.File) { f.Close() })
}

type kernel struct{}

func (kernel) stat(path string) (fs.FileInfo, error) { return os.Stat(path) }

// open does not wait for whoever is at the other end of a pipe, and makes no terminal this process's. The descriptor is a
// blocking one afterwards: io_uring tells those that are not by an error.
func (kernel) open(path string, flags int) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC|flags, 0)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		if err := unix.SetNonblock(fd, false); err != nil {
			return nil, errors.Join(&fs.PathError{Op: "fcntl", Path: path, Err: err}, unix.Close(fd))
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}

// patience is how long Within waits where the context sets no end: a variable for tests.
var patience = 10 * time.Second

// Within calls f, which asks a file system for something, and returns what it returns. A file system whose server is gone
// may never answer, and cannot be interrupted: so Within says what it waits for when that takes long, and gives up when
// ctx ends, or after 10 s if it has no deadline. The call goes on in the background; what it still returns is given to
// late, if that is not nil.
func Within[T any](ctx context.Context, what string, f func() (T, error), late func(T)) (T, error) {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	start := time.Now()
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	defer notice.Slow("%s: the file system does not answer", what)()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
	}
	var none T
	if late != nil {
		go func() {
			if a := <-answers; a.err == nil {
				late(a.value)
			}
		}()
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return none, fmt.Errorf("%s: %w", what, ctx.Err())
	}
	return none, fmt.Errorf("%s: its file system has not answered for %.1f s (is it on a network mount whose server is gone?): %w", what, time.Since(start).Seconds(), ctx.Err())
}
