// Package testfile makes the files that tests read.
package testfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Of returns a file that holds p, synced and open for reading, in a temporary directory (TMPDIR says where).
func Of(t testing.TB, p []byte) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, p, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) { // a test may close it
			t.Error(err)
		}
	})
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	return f
}

// OnDisk is Of, but skips the test where temporary files have no device, and so cannot leave the page cache.
func OnDisk(t testing.TB, p []byte) *os.File {
	t.Helper()
	RequireDisk(t, t.TempDir())
	return Of(t, p)
}

// RequireDisk skips the test if dir lies on a file system without a device.
func RequireDisk(t testing.TB, dir string) {
	t.Helper()
	inMemory, err := inMemory(dir)
	if err != nil {
		t.Fatal(err)
	}
	if inMemory {
		t.Skipf("%s is on tmpfs, whose pages are the file: set TMPDIR to a directory on a disk", dir)
	}
}
