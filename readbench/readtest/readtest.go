// Package readtest checks that a strategy keeps the contract of readbench.Strategy, on a small real file:
//
//	func TestMine(t *testing.T) { readtest.Test(t, mine{}) }
//
// Run it with -race, too, and on the disk that you measure (TMPDIR says where). A strategy that passes can still be slow, but
// what the runner says about it is true.
//
// Some rules ask the kernel: which system calls this process made, what a device delivered to it, which pages are resident.
// Where it does not tell (no Linux, tmpfs, a file system that does not count, no /proc/self/io), the rule is skipped with the cause;
// a skipped rule says nothing about the strategy. The same goes for rules on abilities that are optional: without a
// readbench.Counter nothing shows by which calls a strategy reads and hints.
//
// A strategy must not serve what it kept from earlier reads: what was evicted has to come from the device, each time, even if
// nobody has called Forget. Not seen is memory that is dropped whenever Settle is called, or that is first used after more reads of
// a range than the rule makes (a dozen by each way and reader). Device bytes are those of this process: a test that reads another
// file at the same time can hide such a strategy, but not fail a right one.
package readtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/readbench"
)

const (
	fileSize = 4 << 20 // bytes of the file that strategies are tested on
	maxRange = 64 << 10
	batch    = 16
	threads  = 4
)

// Test runs every rule on s as a subtest. Where s says that it is unsupported, the test is skipped with the cause.
func Test(t *testing.T, s readbench.Strategy) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			switch err := r.check(newEnv(t, s)); {
			case skips(err):
				t.Skip(err)
			case err != nil:
				t.Errorf("%s: the rule is broken: %s: %v", s.Name(), r.name, err)
			}
		})
	}
}

// skips reports whether a rule could not judge: nothing is said about the strategy then.
func skips(err error) bool {
	return errors.Is(err, readbench.ErrUnsupported) || errors.Is(err, errNotApplicable)
}

// errNotApplicable is what a rule returns that says nothing about this strategy.
var errNotApplicable = errors.New("the rule does not apply")

// env is what a rule works with: a file of its own, and the strategy opened on it.
type env struct {
	t      *testing.T
	s      readbench.Strategy
	file   *readbench.File
	setup  readbench.Setup
	kernel evidence.Source  // tells what this process did
	opened readbench.Opened // nil until open
}

// newEnv makes a file; TMPDIR says where.
func newEnv(t *testing.T, s readbench.Strategy) *env {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.bin")
	if _, err := datafile.Create(context.Background(), datafile.Spec{Path: path, Size: fileSize, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := readbench.Load([]string{readbench.EnvPrefix + "FILE=" + path})
	if err != nil {
		t.Fatal(err)
	}
	f, err := readbench.OpenFile(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &env{t: t, s: s, file: f, kernel: evidence.Source{Proc: "/proc"},
		setup: readbench.Setup{Config: c, Threads: threads, Batch: batch, MaxRange: maxRange, Depth: cmp.Or(c.Depth, 16)}}
}

// with opens the strategy, runs f, and closes it again.
func (e *env) with(f func() error) (err error) {
	if e.opened, err = e.s.Open(e.file, e.setup); err != nil {
		return fmt.Errorf("opening: %w", err)
	}
	defer func() {
		if closeErr := e.opened.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("closing: %w", closeErr))
		}
		e.opened = nil
	}()
	return f()
}

// withReader opens the strategy and runs f with the reader of worker 0, as the runner would: on one goroutine,
// with memory faults made errors.
func (e *env) withReader(f func(r readbench.Reader) error) error {
	return e.with(func() error { return e.worker(0, f) })
}

// worker runs f with the reader of a worker, on a goroutine of its own.
func (e *env) worker(id int, f func(r readbench.Reader) error) error {
	const patience = time.Minute
	done := make(chan error, 1)
	go func() {
		done <- guard(func() (err error) {
			r, err := e.opened.Reader(id)
			if err != nil {
				return fmt.Errorf("making reader %d: %w", id, err)
			}
			if c, ok := r.(io.Closer); ok {
				defer func() { err = errors.Join(err, c.Close()) }()
			}
			return f(r)
		})
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		return fmt.Errorf("a reader did not return within %v", patience)
	}
}

// guard turns a memory fault on this goroutine into an error.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			fault, ok := p.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(p)
			}
			err = fmt.Errorf("memory fault: %w", fault)
		}
	}()
	return f()
}

// read reads rg the way that the runner does, and checks every byte.
func (e *env) read(r readbench.Reader, rgs ...readbench.Range) error {
	if p, ok := r.(readbench.Prefetcher); ok {
		if err := p.Prefetch(rgs); err != nil {
			return fmt.Errorf("hinting %v: %w", rgs, err)
		}
	}
	if b, ok := r.(readbench.BatchReader); ok {
		delivered := make([]int, len(rgs))
		err := b.ReadBatch(rgs, func(i int, p []byte) error {
			delivered[i]++
			return e.file.Check(p, rgs[i])
		})
		if err != nil {
			return fmt.Errorf("reading batch %v: %w", rgs, err)
		}
		for i, n := range delivered {
			if n != 1 {
				return fmt.Errorf("a batch delivered range %d of %d %d times", i, len(rgs), n)
			}
		}
	}
	for _, rg := range rgs {
		p, err := r.Read(rg)
		if err != nil {
			return fmt.Errorf("reading %v: %w", rg, err)
		}
		if err := e.file.Check(p, rg); err != nil {
			return err
		}
	}
	return nil
}

// openHandles counts this process's descriptors and mappings of the file.
func (e *env) openHandles() (n int, err error) {
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, readbench.Unsupported("counting descriptors: %w", err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && target == e.file.Path() {
			n++
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, readbench.Unsupported("counting mappings: %w", err)
	}
	return n + countLines(string(maps), e.file.Path()), nil
}
