package files

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A file that would make a row wrong is refused with the cause, and with the command that makes a right one.
func TestFileRefused(t *testing.T) {
	const size = 1 << 20
	for _, tc := range []struct {
		name     string
		make     func(t *testing.T, path string) error
		settings []string
		want     string
	}{
		{"missing", func(*testing.T, string) error { return nil }, nil, "no such file"},
		{"a directory", func(_ *testing.T, path string) error { return os.Mkdir(path, 0o755) }, nil, "neither a regular file nor a block device"},
		{"a pipe that nobody writes", func(_ *testing.T, path string) error { return unix.Mkfifo(path, 0o600) }, nil, "it is a named pipe"},
		{"a socket", func(_ *testing.T, path string) error {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
			if err != nil {
				return err
			}
			l.SetUnlinkOnClose(false)
			return l.Close()
		}, nil, "it is a socket"},
		{"a character device", func(_ *testing.T, path string) error { return os.Symlink(os.DevNull, path) }, nil, "it is a character device"},
		{"smaller than SIZE", dataFile(size, 1), []string{"SIZE=2MiB"}, `READBENCH_SIZE="2MiB": it has 1048576 bytes`},
		{"smaller than a read", dataFile(4096, 1), []string{"READ_SIZE=4KiB,16KiB"}, `READBENCH_READ_SIZE="4KiB,16KiB": it has 4096 bytes, too few for reads of 16KiB`},
		{"empty", func(_ *testing.T, path string) error { return os.WriteFile(path, nil, 0o644) }, nil, "it has 0 bytes"},
		{"of another seed", dataFile(size, 2), nil, `READBENCH_SEED="1": it is a data file of seed 2`},
		{"sparse", func(_ *testing.T, path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o644), os.Truncate(path, size))
		}, nil, "it is sparse"},
		{"allocated and never written", func(t *testing.T, path string) error {
			f, err := os.Create(path)
			if err != nil {
				return err
			}
			if err := allocate(f, size); errors.Is(err, errors.ErrUnsupported) {
				t.Skip(err)
			} else if err != nil {
				return err
			}
			return f.Close()
		}, nil, "1048576 of 1048576 bytes (100.0 %) lie in extents that were allocated and never written (fallocate)"},
		{"truncated in a block", func(t *testing.T, path string) error {
			return errors.Join(dataFile(size, 1)(t, path), os.Truncate(path, size-100))
		}, nil, "it is a data file, but truncated: 1048476 bytes"},
		{"truncated at a block, and SIZE says what it was", func(t *testing.T, path string) error {
			return errors.Join(dataFile(size, 1)(t, path), os.Truncate(path, size-4096))
		}, []string{"SIZE=1MiB"}, `READBENCH_SIZE="1MiB": it has 1044480 bytes`},
		{"damaged at the end", func(t *testing.T, path string) error {
			return errors.Join(dataFile(size, 1)(t, path), overwrite(path, size-1, []byte{0}))
		}, nil, "it is a data file, but damaged: byte 1048575 (block 255)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data.bin")
			if err := tc.make(t, path); err != nil {
				t.Fatal(err)
			}
			_, err := openTest(t, path, tc.settings...)
			wantError(t, err, tc.want)
			wantError(t, err, `READBENCH_FILE="`+path+`": `)
			wantError(t, err, "go run github.com/readbench/suite/tools/mkfile ")
			wantError(t, err, path)
		})
	}
}

// What is no data file may be read all the same; its content is not checked.
func TestForeignFile(t *testing.T) {
	for _, n := range []int{1 << 20, 1<<20 - 100, 20000} {
		path := filepath.Join(t.TempDir(), "theirs.db")
		if err := os.WriteFile(path, []byte(strings.Repeat("x", n)), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := openTest(t, path)
		if err != nil {
			t.Fatal(err)
		}
		if f.content != nil || f.Size() != int64(n) || f.Check(make([]byte, 10), strategy.Range{Off: 0, N: 10}) != nil {
			t.Errorf("checked: %v, size %d", f.content != nil, f.Size())
		}
		if err := f.Check(make([]byte, 9), strategy.Range{Off: 0, N: 10}); err == nil {
			t.Error("a short read passes")
		}
	}
}

// SIZE uses the first part of a larger file.
func TestPartOfFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.bin")
	if err := dataFile(1<<20, 1)(t, path); err != nil {
		t.Fatal(err)
	}
	f, err := openTest(t, path, "SIZE=100001")
	if err != nil {
		t.Fatal(err)
	}
	if f.content == nil || f.Size() != 100001 {
		t.Errorf("checked: %v, size %d", f.content != nil, f.Size())
	}
}

// Without FILE a data file is made in the user's cache directory, once.
func TestDefaultFile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c, err := config.Load([]string{"READBENCH_SIZE=1MiB", "READBENCH_SEED=5"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var first os.FileInfo
	for range 2 {
		f, err := Open(t.Context(), c, false)
		if err != nil {
			t.Fatal(err)
		}
		st, err := f.Control.Stat()
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		if first != nil && !os.SameFile(first, st) {
			t.Error("it was made again")
		}
		first = st
		if want, _ := config.DefaultFile(1<<20, 5); f.Path() != want || f.content == nil || f.Size() != 1<<20 {
			t.Errorf("%s, checked %v, %d bytes; want %s", f.Path(), f.content != nil, f.Size(), want)
		}
	}
	t.Setenv("XDG_CACHE_HOME", "/proc/nowhere")
	if _, err := Open(t.Context(), c, false); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "READBENCH_FILE") {
		t.Errorf("with a cache directory that cannot be made: %v", err)
	}
}

// A cache directory that cannot be used is the fault of no variable of ours; a file that is too large for its disk is.
func TestDefaultFileRefused(t *testing.T) {
	huge, err := config.Load([]string{"READBENCH_SIZE=1048576TiB"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err = Open(t.Context(), huge, false)
	wantError(t, err, `READBENCH_SIZE="1048576TiB": `)
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	c, err := config.Load([]string{"READBENCH_SIZE=4MiB"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), c, false); err == nil || strings.Contains(err.Error(), "READBENCH_FILE=") || strings.Contains(err.Error(), "READBENCH_SIZE=") {
		t.Errorf("error %v", err)
	}
}

// Files of a workload's own are regular, and not empty.
func TestOpenUnchecked(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe := empty + "-pipe"
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{pipe: "it is a named pipe", empty: "0 bytes", t.TempDir(): "not a regular file", empty + "x": "no such file"} {
		_, err := OpenUnchecked(t.Context(), path)
		wantError(t, err, want)
	}
}

func dataFile(size int64, seed uint64) func(*testing.T, string) error {
	return func(t *testing.T, path string) error {
		_, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: size, Seed: seed})
		return err
	}
}

func overwrite(path string, at int64, p []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(p, at)
	return errors.Join(err, f.Close())
}

func openTest(t *testing.T, path string, settings ...string) (*File, error) {
	t.Helper()
	environ := []string{config.EnvPrefix + "FILE=" + path}
	for _, s := range settings {
		environ = append(environ, config.EnvPrefix+s)
	}
	c, err := config.Load(environ, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(t.Context(), c, false)
	if err == nil {
		t.Cleanup(func() { f.Close() })
	}
	return f, err
}

// wantError fails the test unless err contains part.
func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one with %q", err, part)
	}
}
