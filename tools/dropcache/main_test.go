package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestBadUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"nothing":      {nil, 2, "nothing to do"},
		"bad flag":     {[]string{"-x"}, 2, "-x"},
		"all and path": {[]string{"-all", dir}, 2, "leave out"},
		"help":         {[]string{"-h"}, 0, "usage:"},
		"missing":      {[]string{filepath.Join(dir, "none")}, 1, "none: no such file"},
		"directory":    {[]string{dir}, 1, "neither a regular file nor a block device"},
		"pipe":         {[]string{pipe}, 1, "it is a named pipe"},
		"device":       {[]string{os.DevNull}, 1, "neither a regular file nor a block device"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			if !strings.Contains(stderr.String(), c.stderr) || stdout.Len() > 0 {
				t.Errorf("stderr %q lacks %q, or stdout %q is not empty", &stderr, c.stderr, &stdout)
			}
		})
	}
}

func TestEmptyFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{path}, &stdout, &stderr); code != 0 || stdout.String() != path+": empty\n" {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}

// As root this would drop the cache of the whole machine, which is not a test's business.
func TestAllNeedsRoot(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may drop the machine's page cache: run this test as another user")
	}
	var stdout, stderr bytes.Buffer
	if code := run([]string{"-all"}, &stdout, &stderr); code != 1 || !strings.HasPrefix(stderr.String(), "dropcache: dropping the machine's page cache") {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
}
