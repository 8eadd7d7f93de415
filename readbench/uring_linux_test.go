package readbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/uring"
)

// ringStrategies are those on io_uring, by engine.
func ringStrategies() (all []Strategy) {
	for _, e := range Engines() {
		all = append(all, Uring(e), UringMmap(e), UringDirect(e), UringDirectFixed(e), UringDirectPipelined(e), UringDirectAhead(e))
	}
	return all
}

// An op that fits the depth is one io_uring_enter, and none but the kernel's own reads of a ring: no pread. measureRow
// compares with what the kernel counted.
func TestRingRowsCount(t *testing.T) {
	const ops, reads = 30, 16
	for _, strategy := range ringStrategies() {
		if strategy.Name() == "uring-direct-ahead" {
			continue // it is for scans: see TestAheadRowsCount
		}
		for _, pageCase := range []string{"hot", "cold", "mixed50"} {
			for _, depth := range []int{reads, 5} {
				if depth != reads && pageCase != "cold" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s/depth=%d", strategy.Name(), strategy.(Labeler).Labels(), pageCase, depth), func(t *testing.T) {
					s := testSuite(t, fmt.Sprintf("DEPTH=%d", depth))
					res, err := measureRow(t, s, randomRow(s, strategy, pageCase, 2), ops)
					if err != nil {
						t.Fatal(err)
					}
					want := uint64(res.ops * reads)
					c := res.counts
					again := c.Short + c.Retried
					if n := c.Calls["submitted"]; n < want || n > want+again || c.Calls["completed"] != n {
						t.Errorf("%d submitted, %d completed, want %d of each", n, c.Calls["completed"], want)
					}
					enters := c.Calls["enter"]
					switch fits := depth == reads && strategy.Name() != "uring-direct-pipelined"; {
					case fits && (enters < uint64(res.ops) || enters > uint64(res.ops)+again):
						t.Errorf("%d calls of io_uring_enter in %d ops, want one each (%d repeated)", enters, res.ops, again)
					case enters == 0 || enters > want+again:
						t.Errorf("%d calls of io_uring_enter for %d reads", enters, want)
					}
					if n, ok := c.Calls["pread"]; !ok || n != 0 || c.ReadSyscalls != 0 {
						t.Errorf("%d preads (told: %t), %d read system calls, want none, and told", n, ok, c.ReadSyscalls)
					}
				})
			}
		}
	}
}

// Read-ahead reads each byte of a scan once, but for what it had read ahead when the call ended, in fewer calls than reads.
func TestAheadRowsCount(t *testing.T) {
	const depth, reads, ops = 16, 7, 40
	for _, e := range Engines() {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, threads := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/T%d", e, pageCase, threads), func(t *testing.T) {
					s := testSuite(t, "VERIFY=full", fmt.Sprintf("DEPTH=%d", depth))
					s.File().size = 16 << 20 // several rounds
					res, err := measureRow(t, s, scanRow(UringDirectAhead(e), pageCase, threads, reads, 128<<10), ops)
					if err != nil {
						t.Fatal(err)
					}
					want, ahead := uint64(res.ranges()), uint64(threads*(depth-1))
					c := res.counts
					if n := c.Calls["completed"]; n < want || n > want+ahead+c.Short+c.Retried || n != c.Calls["submitted"] {
						t.Errorf("%d completed, %d submitted, want %d, and up to %d that were read ahead", n, c.Calls["submitted"], want, ahead)
					}
					if n := c.Calls["enter"]; n > want+ahead+c.Retried {
						t.Errorf("%d calls of io_uring_enter for %d reads", n, want)
					}
					if bytes := res.counters.DeviceBytes; bytes < want*128<<10 || bytes > (want+ahead+2)*128<<10 {
						t.Errorf("the device delivered %d bytes for %d", bytes, res.bytes())
					}
				})
			}
		}
	}
}

// What reads ahead has nothing in flight once it was settled, and does not hand out what it read before.
func TestAheadSettles(t *testing.T) {
	s := testSuite(t)
	row := scanRow(UringDirectAhead(EngineRing), "hot", 1, 4, 4096)
	r, err := s.open(row)
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	w := r.workers[0]
	err = w.do(func() error {
		a := w.reader.(*ringAhead)
		for i, forget := range []func(){func() { err = a.Settle() }, a.Forget} {
			if _, err := a.Read(Range{int64(i) << 20, 4096}); err != nil {
				return err
			}
			if a.queued != r.setup().Depth-1 {
				t.Errorf("%d reads ahead, want %d", a.queued, r.setup().Depth-1)
			}
			forget()
			if c := a.ring.Counts(); a.queued != 0 || c.Submissions != c.Completions {
				t.Errorf("then %d are queued, and of %d submissions %d are complete", a.queued, c.Submissions, c.Completions)
			}
			before := a.ring.Counts().Completions
			if _, err := a.Read(Range{int64(i)<<20 + 4096, 4096}); err != nil {
				return err
			}
			if a.ring.Counts().Completions == before {
				t.Error("the next read was served from what had been read before")
			}
		}
		return err
	})
	if err := errors.Join(err, r.close()); err != nil {
		t.Error(err)
	}
}

// What io_uring is refused for skips the row, with the cause; anything else fails it.
func TestRingRefusals(t *testing.T) {
	for _, s := range []ring{{name: "uring"}, {name: "uring-direct", direct: true}} {
		refusal := fmt.Errorf("io_uring_setup: %w: io_uring_disabled is 2: %w", unix.EPERM, uring.ErrUnsupported)
		if err := s.refused(refusal); !errors.Is(err, ErrUnsupported) || !errors.Is(err, unix.EPERM) {
			t.Errorf("%v is no reason to skip", err)
		} else {
			wantError(t, err, s.name+": io_uring_setup")
		}
		if err := s.refused(unix.EMFILE); errors.Is(err, ErrUnsupported) || !errors.Is(err, unix.EMFILE) {
			t.Errorf("%v is a reason to skip", err)
		}
	}
	if len(Engines()) == 1 {
		for _, strategy := range []Strategy{Uring(EngineGiouring), UringDirect(EngineGiouring), UringMmap(EngineGiouring)} {
			s := testSuite(t)
			_, err := s.open(randomRow(s, strategy, "hot", 1))
			wantError(t, err, "-tags=giouring")
			if !errors.Is(err, ErrUnsupported) {
				t.Errorf("%v is no reason to skip", err)
			}
		}
	}
}

// A direct ring wants O_DIRECT as any direct row does: where there is none the row is skipped.
func TestRingDirectNeedsDirect(t *testing.T) {
	dir, err := os.MkdirTemp("/dev/shm", "readbench")
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "data.bin")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	s := testSuiteOn(t, path)
	for _, strategy := range ringStrategies() {
		if !strategyDirect(strategy) {
			continue
		}
		if _, err := s.open(randomRow(s, strategy, "hot", 1)); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v, want a reason to skip", strategy.Name(), err)
		}
	}
}

func strategyDirect(s Strategy) bool {
	r, ok := s.(ring)
	return ok && r.direct
}

// Buffers of direct reads are in huge pages where the kernel lets itself be asked for them, and are given back.
func TestDirectBuffersAreInHugePages(t *testing.T) {
	enabled, err := os.ReadFile("/sys/kernel/mm/transparent_hugepage/enabled")
	if err != nil || !strings.Contains(string(enabled), "[madvise]") {
		t.Skipf("huge pages are not there for those who ask, and only for them: %q, %v", enabled, err)
	}
	for _, strategy := range []Strategy{PreadDirect(), UringDirect(EngineRing), UringDirectFixed(EngineRing), UringDirectPipelined(EngineRing), Uring(EngineRing)} {
		s := testSuite(t)
		r, err := s.open(randomRow(s, strategy, "hot", 1))
		if errors.Is(err, ErrUnsupported) {
			t.Log(err)
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		w := r.workers[0]
		var huge, all int64
		err = w.do(func() (err error) {
			switch x := w.reader.(type) {
			case *preadDirectReader:
				all = int64(len(x.buf))
				huge, err = x.mem.Huge()
			case *ringReader:
				huge, all, err = x.ring.HugePages()
			case *ringPipeliner:
				huge, all, err = x.ring.HugePages()
			}
			return err
		})
		_, direct := r.opened[0].(Direct)
		if err != nil || all == 0 || (huge >= all) != direct {
			t.Errorf("%s: %d of %d bytes are in huge pages; %v", strategy.Name(), huge, all, err)
		}
		reader := w.reader
		if err := r.close(); err != nil {
			t.Error(err)
		}
		if x, ok := reader.(*preadDirectReader); ok && x.mem.Bytes() != nil {
			t.Errorf("%s: the buffer was not given back", strategy.Name())
		}
	}
}
