package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/readbench/config"
)

// A process locks all files of a suite, once each: suites of one process do not wait for each other.
func TestClaim(t *testing.T) {
	dir := t.TempDir()
	var fs Set
	for _, name := range []string{"b", "a"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, 8192), 0o400); err != nil {
			t.Fatal(err)
		}
		f, err := OpenUnchecked(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		fs = append(fs, f)
	}
	c, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := fs.Claim(t.Context(), c); err != nil {
			t.Fatal(err)
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
		again, err := OpenUnchecked(t.Context(), f.Path())
		if err == nil {
			err = errors.Join(claim(t.Context(), c, again.Control), again.Close())
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
	f, err := OpenUnchecked(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := errors.Join(os.WriteFile(path+".new", nil, 0o600), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, (Set{f}).Claim(t.Context(), c), "it was replaced meanwhile")
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
	c, err := config.Load(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := claim(t.Context(), c, f); err != nil {
		t.Error(err)
	}
}
