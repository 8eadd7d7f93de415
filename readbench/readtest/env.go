package readtest

// What rules work with: a file of their own, a strategy opened on it, and readers that are treated as the runner treats them.
// It does not know the rules.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

const (
	fileSize = 4 << 20 // bytes of the file that strategies are tested on
	maxRange = 64 << 10
	batch    = 16
	threads  = 4
)

// errNotApplicable is what a rule returns that says nothing about this strategy.
var errNotApplicable = errors.New("the rule does not apply")

// env is what a rule works with: a file of its own, and the strategy opened on it.
type env struct {
	t      *testing.T
	s      strategy.Strategy
	file   *files.File
	setup  strategy.Setup
	kernel evidence.Source // tells what this process did
	opened strategy.Opened // nil until open
}

// newEnv makes a file; TMPDIR says where.
func newEnv(t *testing.T, s strategy.Strategy) *env {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.bin")
	if _, err := datafile.Create(context.Background(), datafile.Spec{Path: path, Size: fileSize, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]string{config.EnvPrefix + "FILE=" + path}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(context.Background(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	return &env{t: t, s: s, file: f, kernel: evidence.Source{Proc: "/proc"},
		setup: strategy.Setup{OwnProcessors: true, Window: int64(c.Window), Threads: threads, Batch: batch, MaxRange: maxRange, Depth: cmp.Or(c.Depth, 16)}}
}

// with opens the strategy, runs f, and closes it again.
func (e *env) with(f func() error) (err error) {
	if e.opened, err = e.s.Open(e.file.File, e.setup); err != nil {
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
func (e *env) withReader(f func(r strategy.Reader) error) error {
	return e.with(func() error { return e.worker(0, f) })
}

// worker runs f with the reader of a worker, on a goroutine of its own.
func (e *env) worker(id int, f func(r strategy.Reader) error) error {
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
func (e *env) read(r strategy.Reader, rgs ...strategy.Range) error {
	if p, ok := r.(strategy.Prefetcher); ok {
		if err := p.Prefetch(rgs); err != nil {
			return fmt.Errorf("hinting %v: %w", rgs, err)
		}
	}
	if b, ok := r.(strategy.BatchReader); ok {
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
		return 0, strategy.Unsupported("counting descriptors: %w", err)
	}
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && target == e.file.Path() {
			n++
		}
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, strategy.Unsupported("counting mappings: %w", err)
	}
	return n + countLines(string(maps), e.file.Path()), nil
}

func countLines(text, part string) (n int) {
	for line := range strings.Lines(text) {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}
