package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
)

const runVar = "MKFILE_TEST_RUN" // set in a process that is to be mkfile itself

func TestMain(m *testing.M) {
	if os.Getenv(runVar) != "" {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// content is what a data file of the seed holds.
func content(size int, seed uint64) []byte {
	p := make([]byte, size)
	datafile.New(seed).Fill(p, 0)
	return p
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// expect runs mkfile and checks its exit status, and that its outputs match; an empty pattern wants no output.
func expect(t *testing.T, args []string, code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, &out, &errs); got != code {
		t.Errorf("mkfile %q: exit status %d, want %d", args, got, code)
	}
	for _, c := range []struct{ name, got, want string }{{"stdout", out.String(), stdout}, {"stderr", errs.String(), stderr}} {
		if c.want == "" && c.got != "" || !regexp.MustCompile(c.want).MatchString(c.got) {
			t.Errorf("mkfile %q: %s %q, want a match of %q", args, c.name, c.got, c.want)
		}
	}
}

func TestMake(t *testing.T) {
	t.Parallel()
	foreign := bytes.Repeat([]byte("precious"), 1024)
	for name, c := range map[string]struct {
		there  []byte // at PATH; nil for nothing
		part   []byte // at PATH.part
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"new":                {code: 0, stdout: `^made \S+/data, 64KiB, seed 7, [0-9.]+ s, [0-9]+ MB/s\n$`},
		"there":              {there: content(64<<10, 7), stdout: `^there already: \S+/data, 64KiB, seed 7\n$`},
		"there, forced":      {there: content(64<<10, 7), args: []string{"-force"}, stdout: `^made `},
		"other seed":         {there: content(64<<10, 8), code: 1, stderr: `a data file of 64KiB and seed 8: .*-force`},
		"other size":         {there: content(128<<10, 7), code: 1, stderr: `a data file of 128KiB and seed 7: .*-force`},
		"other size, forced": {there: content(128<<10, 7), args: []string{"-force"}, stdout: `^made `},
		"empty":              {there: []byte{}, stdout: `^made `},
		"foreign":            {there: foreign, code: 1, stderr: `^mkfile: \S+/data is there and is no data file: .*-force`},
		"foreign, short":     {there: []byte("x"), code: 1, stderr: `is no data file`},
		"foreign, forced":    {there: foreign, args: []string{"-force"}, stdout: `^made `},
		"part of a dead one": {part: make([]byte, 64<<10), stdout: `^made `},
		"part of other size": {part: content(128<<10, 8), stdout: `^made `},
		"foreign part":       {part: foreign, args: []string{"-force"}, code: 1, stderr: `data\.part.* move that away`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data")
			if c.there != nil {
				write(t, path, c.there)
			}
			if c.part != nil {
				write(t, path+".part", c.part)
			}
			expect(t, append(c.args, "-size", "64KiB", "-seed", "7", path), c.code, c.stdout, c.stderr)
			want := content(64<<10, 7)
			if c.code != 0 {
				want = c.there
			}
			if got, err := os.ReadFile(path); !bytes.Equal(got, want) {
				t.Errorf("wrong content (%d bytes, want %d), %v", len(got), len(want), err)
			}
			part, err := os.ReadFile(path + ".part")
			if c.code == 0 && !os.IsNotExist(err) {
				t.Errorf("the part file is left: %v", err)
			}
			if c.code != 0 && !bytes.Equal(part, c.part) {
				t.Errorf("the part file has changed: %v", err)
			}
		})
	}
}

func TestNoPlace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	dangling := filepath.Join(dir, "dangling")
	if err := os.Symlink(filepath.Join(dir, "nothing"), dangling); err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(unix.Mkfifo(pipe, 0o600), unix.Mkfifo(filepath.Join(dir, "other.part"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, stderr string }{
		"pipe":          {pipe, "it is a named pipe"},
		"part is one":   {filepath.Join(dir, "other"), "it is a named pipe.*move that away"},
		"directory":     {dir, "it is a directory"},
		"device":        {os.DevNull, "it is a character device"},
		"no directory":  {filepath.Join(dir, "none", "data"), "there is no directory .*/none: make it first"},
		"dangling link": {dangling, "symbolic link to nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, []string{"-force", "-size", "4KiB", c.path}, 1, "", "^mkfile: making "+c.path+".*: .*"+c.stderr)
		})
	}
}

func TestThroughLink(t *testing.T) {
	t.Parallel()
	target, link := filepath.Join(t.TempDir(), "target"), filepath.Join(t.TempDir(), "link")
	write(t, target, nil)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	expect(t, []string{"-size", "4KiB", link}, 0, "^made .*/target, ", "")
	if st, err := os.Lstat(link); err != nil || st.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", st, err)
	}
	expect(t, []string{"-check", "-size", "4KiB", link}, 0, "^ok ", "")
}

func TestDefaultPath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home) // os.UserCacheDir goes by these
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	expect(t, []string{"-size", "8KiB", "-seed", "3"}, 0, "^made "+home+"/.*/readbench/data-8KiB-seed3.bin, ", "")
	expect(t, []string{"-size", "8KiB", "-seed", "3"}, 0, "^there already: ", "")
	expect(t, []string{"-check", "-size", "8KiB", "-seed", "3"}, 0, "^ok ", "")
	expect(t, []string{"-check", "-size", "4KiB"}, 1, "", "no such file")
}

func TestCheck(t *testing.T) {
	t.Parallel()
	const size = 3 << 20 // several chunks
	good := content(size, 5)
	bad := func(at ...int) []byte {
		p := bytes.Clone(good)
		for _, i := range at {
			p[i] ^= 1
		}
		return p
	}
	const block = datafile.BlockSize
	for name, c := range map[string]struct {
		data   []byte
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"good":               {data: good, stdout: `^ok \S+/data, 3MiB, seed 5, [0-9.]+ s, [0-9]+ MB/s\n$`},
		"good, all given":    {data: good, args: []string{"-size", "3MiB", "-seed", "5"}, stdout: "^ok "},
		"one bad byte":       {data: bad(600*block + 9), code: 1, stderr: `checking \S+/data: byte 2457609 \(block 600\)`},
		"two bad blocks":     {data: bad(700*block, 300*block+4095), code: 1, stderr: `\(block 300\)`},
		"last byte":          {data: bad(size - 1), code: 1, stderr: `\(block 767\)`},
		"first block":        {data: bad(80), code: 1, stderr: `block 0 .* -seed`},
		"first block, -seed": {data: bad(80), args: []string{"-seed", "5"}, code: 1, stderr: `byte 80 \(block 0\)`},
		"other seed":         {data: good, args: []string{"-seed", "1"}, code: 1, stderr: "seed 5, -seed says 1"},
		"other size":         {data: good, args: []string{"-size", "4MiB"}, code: 1, stderr: `3145728 bytes, -size says 4194304 \(4MiB\)`},
		"truncated":          {data: good[:size-100], code: 1, stderr: "truncated: it has 3145628 bytes"},
		"truncated short":    {data: good[:100], code: 1, stderr: "100 bytes: truncated"},
		"empty":              {data: nil, code: 1, stderr: "0 bytes: truncated"},
		"foreign":            {data: bytes.Repeat([]byte{1}, block), code: 1, stderr: "no data file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "data")
			write(t, path, c.data)
			expect(t, append(append([]string{"-check"}, c.args...), path), c.code, c.stdout, c.stderr)
			if got, err := os.ReadFile(path); !bytes.Equal(got, c.data) {
				t.Errorf("the file has changed: %v", err)
			}
		})
	}
	t.Run("missing", func(t *testing.T) {
		expect(t, []string{"-check", filepath.Join(t.TempDir(), "none")}, 1, "", "^mkfile: checking .*no such file")
	})
	t.Run("directory", func(t *testing.T) {
		expect(t, []string{"-check", t.TempDir()}, 1, "", "it is a directory")
	})
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   string
		code   int
		stderr string
	}{
		"help":             {"-h", 0, "usage: mkfile(.|\n)*-force"},
		"unknown flag":     {"-x", 2, "-x"},
		"two paths":        {"a b", 2, "one PATH"},
		"flag behind path": {"a -force", 2, "after the flags"},
		"size, form":       {"-size 16k a", 2, "16KiB"},
		"size, multiple":   {"-size 5000 a", 2, "multiple of 4KiB"},
		"size, zero":       {"-size 0 a", 2, "positive"},
		"seed":             {"-seed x a", 2, "-seed"},
		"force and check":  {"-force -check a", 2, "leave one out"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expect(t, strings.Fields(c.args), c.code, "", c.stderr)
		})
	}
	expect(t, []string{""}, 2, "", "PATH is empty")
}
