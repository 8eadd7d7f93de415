package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/testfile"
)

const pages = 64

// resident makes a file that is in the page cache and dirty.
func resident(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data")
	testfile.RequireDisk(t, filepath.Dir(path))
	if err := os.WriteFile(path, bytes.Repeat([]byte{1}, pages*os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestEvicts(t *testing.T) {
	t.Parallel()
	path := resident(t)
	for _, before := range []int{pages, 0} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{path}, &stdout, &stderr); code != 0 {
			t.Fatalf("exit status %d, stderr %q", code, &stderr)
		}
		want := fmt.Sprintf("%s: before %d of %d pages resident", path, before, pages)
		if got := stdout.String(); !strings.HasPrefix(got, want) || !strings.Contains(got, fmt.Sprintf(", after 0 of %d pages", pages)) {
			t.Errorf("stdout %q, want %q", got, want)
		}
	}
}

func TestMappedPagesStay(t *testing.T) {
	t.Parallel()
	path, other := resident(t), resident(t)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, pages*os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for i := 0; i < len(data); i += os.Getpagesize() {
		sum += int(data[i])
	}
	if sum != pages {
		t.Errorf("%d pages touched, want %d", sum, pages)
	}
	var stdout, stderr bytes.Buffer
	code := run([]string{path, other}, &stdout, &stderr)
	if err := unix.Munmap(data); err != nil {
		t.Fatal(err)
	}
	if code != 1 {
		t.Errorf("exit status %d, want 1", code)
	}
	stays := fmt.Sprintf("%s: before %[2]d of %[2]d pages resident (100.00 %%), after %[2]d of", path, pages)
	goes := fmt.Sprintf("%s: before %[2]d of %[2]d pages resident (100.00 %%), after 0 of", other, pages)
	if got := stdout.String(); !strings.Contains(got, stays) || !strings.Contains(got, goes) {
		t.Errorf("stdout %q, want %q and %q", got, stays, goes)
	}
	if got := stderr.String(); !strings.HasPrefix(got, "dropcache: evicting "+path) || !strings.Contains(got, "map it") || strings.Contains(got, other) {
		t.Errorf("stderr %q should name only %s, and the likely cause", got, path)
	}
}

// What a benchmark reads is left alone, unless it is to be evicted nevertheless. The reader is named in both cases.
func TestReadersAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, how := range []int{unix.LOCK_EX, unix.LOCK_SH} {
		path := resident(t)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := unix.Flock(int(f.Fd()), how); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			args   []string
			code   int
			stdout string
		}{{[]string{path}, 1, ""}, {[]string{"-force", path}, 0, "after 0 of"}} {
			var stdout, stderr bytes.Buffer
			code := run(c.args, &stdout, &stderr)
			if code != c.code || !strings.Contains(stdout.String(), c.stdout) || c.stdout == "" && stdout.Len() > 0 {
				t.Errorf("%q: exit status %d, stdout %q", c.args, code, &stdout)
			}
			if want := fmt.Sprintf("%s is in use by process %d (", path, os.Getpid()); !strings.Contains(strings.ReplaceAll(stderr.String(), ": it is", " is"), want) {
				t.Errorf("%q: stderr %q, want %q", c.args, &stderr, want)
			}
		}
	}
}
