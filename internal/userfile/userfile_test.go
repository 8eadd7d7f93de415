package userfile

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What could make open wait, or is no file, is refused at once.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(unix.Mkfifo(path("pipe"), 0o600), os.Symlink("pipe", path("link"))); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tc := range []struct{ path, want string }{
		{path("pipe"), "it is a named pipe"},
		{path("link"), "it is a named pipe"},
		{path("socket"), "it is a socket"},
		{dir, "it is a directory"},
		{os.DevNull, "it is a character device"},
		{path("missing"), "no such file"},
	} {
		for kind, rest := range map[Kind]string{Regular: "not a regular file", RegularOrDisk: "neither a regular file nor a block device"} {
			f, err := Open(t.Context(), tc.path, kind)
			if err == nil {
				t.Errorf("%s was opened", f.Name())
				continue
			}
			if !strings.Contains(err.Error(), tc.want) || !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), rest) {
				t.Errorf("%s: %v, want %q and %q", tc.path, err, tc.want, rest)
			}
		}
	}
}

// A regular file is opened, and its descriptor is an ordinary one.
func TestOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), path, Regular)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.Name() != path {
		t.Errorf("name %q", f.Name())
	}
	for _, get := range []struct {
		cmd, flag int
		want      bool
	}{{unix.F_GETFL, unix.O_NONBLOCK, false}, {unix.F_GETFD, unix.FD_CLOEXEC, true}} {
		if flags, err := unix.FcntlInt(f.Fd(), get.cmd, 0); err != nil || flags&get.flag != 0 != get.want {
			t.Errorf("flags %#x, error %v: %#x is to be %v", flags, err, get.flag, get.want)
		}
	}
	again, err := Again(f, 0)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
	if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Again(f, 0); err == nil || !strings.Contains(err.Error(), "it was replaced") {
		t.Errorf("opened again after it became a pipe: %v", err)
	}
}

// a racer makes a file what it is not when it was looked at.
type racer struct{ kernel }

func (racer) open(path string, flags int) (*os.File, error) {
	if err := errors.Join(os.Remove(path), unix.Mkfifo(path, 0o600)); err != nil {
		return nil, err
	}
	return kernel{}.open(path, flags)
}

// A pipe that takes the name after the look is opened without waiting, and refused.
func TestRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t.Context(), path, Regular, racer{}); err == nil || !strings.Contains(err.Error(), "it is a named pipe") {
		t.Errorf("error %v", err)
	}
}

// a dead mount answers stat, or open, when it is let.
type dead struct {
	kernel
	inOpen bool
	answer chan struct{}
}

func (d dead) stat(path string) (fs.FileInfo, error) {
	if !d.inOpen {
		<-d.answer
	}
	return d.kernel.stat(path)
}

func (d dead) open(path string, flags int) (*os.File, error) {
	<-d.answer
	return d.kernel.open(path, flags)
}

// A file system that does not answer is given up, with and without a deadline of the caller's.
func TestDeadMount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	defer func(old time.Duration) { patience = old }(patience)
	patience = time.Millisecond
	soon, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	for _, ctx := range []context.Context{t.Context(), soon} {
		for _, inOpen := range []bool{false, true} {
			sys := dead{inOpen: inOpen, answer: make(chan struct{})}
			_, err := open(ctx, path, Regular, sys)
			if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "opening "+path) || !strings.Contains(err.Error(), "network mount") {
				t.Errorf("error %v", err)
			}
			close(sys.answer) // what it then opens is closed: nothing is left behind
		}
	}
}
