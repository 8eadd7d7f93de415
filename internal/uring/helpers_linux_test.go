package uring

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/testfile"
)

// testSize is that of a test's file: no multiple of what O_DIRECT wants.
const testSize = 1<<20 + 1000

// engines are those of this program.
func engines(t testing.TB) []Engine {
	t.Helper()
	var all []Engine
	for _, e := range []Engine{EngineRing, EngineGiouring} {
		r, err := Open(Options{Engine: e, Depth: 1})
		if e == EngineGiouring && errors.Is(err, ErrUnsupported) && strings.Contains(err.Error(), "-tags=giouring") {
			continue
		}
		if errors.Is(err, ErrUnsupported) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// onAll runs test as a subtest for each engine and way of reading. Options are complete but for depth and lengths.
func onAll(t *testing.T, test func(t *testing.T, o Options)) {
	for _, e := range engines(t) {
		for _, o := range []Options{
			{},
			{OneThread: true},
			{OneThread: true, KeepProcessor: true},
			{FixedBuffers: true, FixedFile: true},
			{Align: 4096, HugePages: true},
			{OneThread: true, Align: 4096, FixedBuffers: true},
			{OneThread: true, Align: 4096, FixedBuffers: true, HugePages: true},
		} {
			if o.Engine = e; o.KeepProcessor && e == EngineGiouring {
				continue
			}
			name := fmt.Sprintf("engine=%s/align=%d/thread=%t/keep=%t/buffers=%t/file=%t/huge=%t", e, o.Align, o.OneThread, o.KeepProcessor, o.FixedBuffers, o.FixedFile, o.HugePages)
			t.Run(name, func(t *testing.T) {
				o.File = reopen(t, content(t), o)
				o.Depth, o.MaxRange = 8, 20000
				test(t, o)
			})
		}
	}
}

// onEngines is onAll with buffered reads only.
func onEngines(t *testing.T, test func(t *testing.T, o Options)) {
	for _, e := range engines(t) {
		t.Run("engine="+string(e), func(t *testing.T) {
			test(t, Options{File: content(t), Engine: e, Depth: 8, MaxRange: 20000})
		})
	}
}

// content is a file of testSize bytes.
func content(t testing.TB) *os.File {
	t.Helper()
	p := make([]byte, testSize)
	datafile.New(1).Fill(p, 0)
	return testfile.Of(t, p)
}

// reopen opens f as o wants it: with O_DIRECT if there is an alignment.
func reopen(t testing.TB, f *os.File, o Options) *os.File {
	t.Helper()
	if o.Align < 2 {
		return f
	}
	d, err := os.OpenFile(f.Name(), os.O_RDONLY|unix.O_DIRECT, 0)
	if errors.Is(err, unix.EINVAL) {
		t.Skipf("no direct reads of %s: set TMPDIR to a directory on a disk", f.Name())
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// openTest opens a ring that is closed at the end of the test, if the test has not closed it.
func openTest(t testing.TB, o Options) *Ring {
	t.Helper()
	r, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	})
	return r
}

// randomReads draws n reads of a file of testSize, some of them twice, some at its very end.
func randomReads(rng *rand.Rand, n, longest int) []read {
	reads := make([]read, n)
	for i := range reads {
		switch rng.IntN(8) {
		case 0:
			reads[i] = reads[rng.IntN(i+1)]
		case 1:
			length := 1 + rng.IntN(longest)
			reads[i] = read{int64(testSize - length), length}
		}
		if reads[i].n == 0 {
			length := 1 + rng.IntN(longest)
			reads[i] = read{rng.Int64N(int64(testSize - length + 1)), length}
		}
	}
	return reads
}

// A checker compares what is handed over with pread of the file, and sees to it that each read comes once.
type checker struct {
	t     testing.TB
	file  *os.File
	reads []read
	seen  []int
}

// newChecker opens another descriptor: the ring's own may be one of O_DIRECT, or be closed by the test.
func newChecker(t testing.TB, f *os.File, reads []read) *checker {
	t.Helper()
	other, err := os.Open(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	return &checker{t, other, reads, make([]int, len(reads))}
}

func (c *checker) each(i int, p []byte) error {
	if i < 0 || i >= len(c.reads) {
		return fmt.Errorf("read %d of %d was handed over", i, len(c.reads))
	}
	c.seen[i]++
	want := make([]byte, c.reads[i].n)
	if n, err := unix.Pread(int(c.file.Fd()), want, c.reads[i].off); n != len(want) || err != nil {
		return fmt.Errorf("pread: %d, %w", n, err)
	}
	if !bytes.Equal(p, want) {
		return fmt.Errorf("read %d (%d bytes at %d) differs from pread: %d bytes: %w", i, c.reads[i].n, c.reads[i].off, len(p), datafile.New(1).Explain(p, c.reads[i].off))
	}
	return nil
}

func (c *checker) done() {
	c.t.Helper()
	for i, n := range c.seen {
		if n != 1 {
			c.t.Errorf("read %d was handed over %d times", i, n)
		}
	}
}

func add(r *Ring, reads []read) {
	for _, rd := range reads {
		r.Add(rd.off, rd.n)
	}
}

// doAndCheck reads a batch and compares it.
func doAndCheck(t testing.TB, r *Ring, reads []read) {
	t.Helper()
	c := newChecker(t, r.opts.File, reads)
	add(r, reads)
	if err := r.Do(c.each); err != nil {
		t.Fatal(err)
	}
	c.done()
}

// ignore takes reads and does nothing.
func ignore(int, []byte) error { return nil }

// ringsOpen counts this process's descriptors and mappings of rings.
func ringsOpen(t testing.TB) (fds, maps int) {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(to, "io_uring") {
			fds++
		}
	}
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return fds, strings.Count(string(b), "io_uring")
}

// mappedBytes is the size of this process's address space.
func mappedBytes(t testing.TB) int64 {
	t.Helper()
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(b))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
