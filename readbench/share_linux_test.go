package readbench

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/filelock"
)

// A process locks all files of a suite, once each: suites of one process do not wait for each other.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	var fs files
	for _, name := range []string{"b", "a"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 8192), 0o400); err != nil {
			t.Fatal(err)
		}
		f, err := OpenUnchecked(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs = append(fs, f)
	}
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := claiming(func(context.Context, *Config) ([]*File, error) { return fs, nil })(t.Context(), c)
		if len(got) != 2 || err != nil {
			t.Fatal(got, err)
		}
	}
	for _, f := range fs {
		other, err := os.Open(f.Path())
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		if err := filelock.Try(other, filelock.Shared); !errors.Is(err, filelock.ErrHeld) {
			t.Errorf("%s: %v", f.Path(), err)
		}
		again, err := OpenUnchecked(f.Path())
		if err == nil {
			err = errors.Join(claim(t.Context(), c, again.control), again.Close())
		}
		if err != nil {
			t.Errorf("a second time in this process: %v", err)
		}
	}
}

// What was replaced while a run waited for it is not measured: the file that is there now is another one.
func TestClaimReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenUnchecked(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, files{f}.claim(t.Context(), c), "it was replaced meanwhile")
}

// Where there are no locks, as for a descriptor that only names a file, a run goes on.
func TestClaimUnsupported(t *testing.T) {
	f, err := os.OpenFile(t.TempDir(), unix.O_PATH, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := filelock.Try(f, filelock.Exclusive); !errors.Is(err, filelock.ErrUnsupported) {
		t.Errorf("locked: %v", err)
	}
	c, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim(t.Context(), c, f); err != nil {
		t.Error(err)
	}
}
