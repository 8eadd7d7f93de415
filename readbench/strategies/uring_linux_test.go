package strategies

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/internal/uring"
	"github.com/readbench/suite/readbench/strategy"
)

// onDisk opens a strategy on a data file of 4 MiB. What cannot run here is an error that wraps strategy.ErrUnsupported.
func onDisk(t *testing.T, s strategy.Strategy, setup strategy.Setup) (strategy.Opened, strategy.Reader, error) {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	path := filepath.Join(dir, "data.bin")
	const size = 4 << 20
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: size, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	o, err := s.Open(strategy.NewFile(path, size, nil), setup)
	if err != nil {
		return nil, nil, err
	}
	r, err := o.Reader(0)
	if err != nil {
		return nil, nil, errors.Join(err, o.Close())
	}
	return o, r, nil
}

// What io_uring is refused for skips the row, with the cause; anything else fails it.
func TestRingRefusals(t *testing.T) {
	for _, s := range []ring{{name: "uring"}, {name: "uring-direct", direct: true}} {
		refusal := fmt.Errorf("io_uring_setup: %w: io_uring_disabled is 2: %w", unix.EPERM, uring.ErrUnsupported)
		if err := s.refused(refusal); !errors.Is(err, strategy.ErrUnsupported) || !errors.Is(err, unix.EPERM) {
			t.Errorf("%v is no reason to skip", err)
		} else if want := s.name + ": io_uring_setup"; !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want one with %q", err, want)
		}
		if err := s.refused(unix.EMFILE); errors.Is(err, strategy.ErrUnsupported) || !errors.Is(err, unix.EMFILE) {
			t.Errorf("%v is a reason to skip", err)
		}
	}
}

// What reads ahead has nothing in flight once it was settled, and does not hand out what it read before.
func TestAheadSettles(t *testing.T) {
	setup := strategy.Setup{Threads: 1, Batch: 4, MaxRange: 4096, Depth: 16, Order: strategy.OrderSequential, OwnProcessors: true}
	o, r, err := onDisk(t, UringDirectAhead(EngineRing), setup)
	if errors.Is(err, strategy.ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	a := r.(*ringAhead)
	defer func() {
		if err := errors.Join(a.Close(), o.Close()); err != nil {
			t.Error(err)
		}
	}()
	read := func(off int64) {
		t.Helper()
		if _, err := a.Read(strategy.Range{Off: off, N: 4096}); err != nil {
			t.Fatal(err)
		}
	}
	for i, forget := range []func() error{a.Settle, func() error { a.Forget(); return nil }} {
		read(int64(i) << 20)
		if a.queued != setup.Depth-1 {
			t.Errorf("%d reads ahead, want %d", a.queued, setup.Depth-1)
		}
		if err := forget(); err != nil {
			t.Fatal(err)
		}
		if c := a.ring.Counts(); a.queued != 0 || c.Submissions != c.Completions {
			t.Errorf("then %d are queued, and of %d submissions %d are complete", a.queued, c.Submissions, c.Completions)
		}
		before := a.ring.Counts().Completions
		read(int64(i)<<20 + 4096)
		if a.ring.Counts().Completions == before {
			t.Error("the next read was served from what had been read before")
		}
	}
}

// Buffers of direct reads are in huge pages where the kernel lets itself be asked for them, and are given back.
func TestDirectBuffersAreInHugePages(t *testing.T) {
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(enabled), "[madvise]") {
		t.Skipf("huge pages are not there for those who ask, and only for them: %q, %v", enabled, err)
	}
	for _, s := range []strategy.Strategy{PreadDirect(), UringDirect(EngineRing), UringDirectFixed(EngineRing), UringDirectPipelined(EngineRing), Uring(EngineRing)} {
		o, r, err := onDisk(t, s, strategy.Setup{Threads: 1, Batch: 16, MaxRange: 16 << 10, Depth: 16, OwnProcessors: true})
		if errors.Is(err, strategy.ErrUnsupported) {
			t.Log(err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(strategy.Range{Off: 0, N: 16 << 10}); err != nil {
			t.Error(err)
		}
		var huge, all int64
		switch x := r.(type) {
		case *preadDirectReader:
			huge, all, err = x.hugePages()
		case *ringReader:
			huge, all, err = x.ring.HugePages()
		case *ringPipeliner:
			huge, all, err = x.ring.HugePages()
		}
		_, direct := o.(strategy.Direct)
		if err != nil || all == 0 || (huge >= all) != direct {
			t.Errorf("%s: %d of %d bytes are in huge pages; %v", s.Name(), huge, all, err)
		}
		if err := errors.Join(r.(io.Closer).Close(), o.Close()); err != nil {
			t.Error(err)
		}
		if x, ok := r.(*preadDirectReader); ok && x.mem.Bytes() != nil {
			t.Errorf("%s: the buffer was not given back", s.Name())
		}
	}
}
