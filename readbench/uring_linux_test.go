package readbench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// ringStrategies are those on io_uring, by engine.
func ringStrategies() (all []strategy.Strategy) {
	for _, e := range strategies.Engines() {
		all = append(all, strategies.Uring(e), strategies.UringMmap(e), strategies.UringDirect(e), strategies.UringDirectFixed(e), strategies.UringDirectPipelined(e), strategies.UringDirectAhead(e))
	}
	return all
}

// An op that fits the depth is one io_uring_enter, and none but the kernel's own reads of a ring: no pread. measureRow
// compares with what the kernel counted.
func TestRingRowsCount(t *testing.T) {
	const ops, reads = 30, 16
	for _, st := range ringStrategies() {
		if st.Name() == "uring-direct-ahead" {
			continue // it is for scans: see TestAheadRowsCount
		}
		for _, pageCase := range []string{"hot", "cold", "mixed50"} {
			for _, depth := range []int{reads, 5} {
				if depth != reads && pageCase != "cold" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%s/depth=%d", st.Name(), st.(strategy.Labeler).Labels(), pageCase, depth), func(t *testing.T) {
					s := testSuite(t, fmt.Sprintf("DEPTH=%d", depth))
					res, err := measureRow(t, s, randomRow(s, st, pageCase, 2), ops)
					if err != nil {
						t.Fatal(err)
					}
					want := uint64(res.Ops * reads)
					c := res.Counts
					again := c.Short + c.Retried
					if n := c.Calls["submitted"]; n < want || n > want+again || c.Calls["completed"] != n {
						t.Errorf("%d submitted, %d completed, want %d of each", n, c.Calls["completed"], want)
					}
					enters := c.Calls["enter"]
					switch fits := depth == reads && st.Name() != "uring-direct-pipelined"; {
					case fits && (enters < uint64(res.Ops) || enters > uint64(res.Ops)+again):
						t.Errorf("%d calls of io_uring_enter in %d ops, want one each (%d repeated)", enters, res.Ops, again)
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
	for _, e := range strategies.Engines() {
		for _, pageCase := range []string{"hot", "cold"} {
			for _, threads := range []int{1, 3} {
				t.Run(fmt.Sprintf("%s/%s/T%d", e, pageCase, threads), func(t *testing.T) {
					s := testSuite(t, "VERIFY=full", fmt.Sprintf("DEPTH=%d", depth), "SIZE=16MiB") // several rounds
					res, err := measureRow(t, s, scanRow(strategies.UringDirectAhead(e), pageCase, threads, reads, 128<<10), ops)
					if err != nil {
						t.Fatal(err)
					}
					want, ahead := uint64(res.Ranges()), uint64(threads*(depth-1))
					c := res.Counts
					if n := c.Calls["completed"]; n < want || n > want+ahead+c.Short+c.Retried || n != c.Calls["submitted"] {
						t.Errorf("%d completed, %d submitted, want %d, and up to %d that were read ahead", n, c.Calls["submitted"], want, ahead)
					}
					if n := c.Calls["enter"]; n > want+ahead+c.Retried {
						t.Errorf("%d calls of io_uring_enter for %d reads", n, want)
					}
					if bytes := res.Counters.DeviceBytes; bytes < want*128<<10 || bytes > (want+ahead+2)*128<<10 {
						t.Errorf("the device delivered %d bytes for %d", bytes, res.Bytes())
					}
				})
			}
		}
	}
}

// An engine that is not in this program skips the row, with the cause.
func TestMissingEngine(t *testing.T) {
	if len(strategies.Engines()) == 1 {
		for _, st := range []strategy.Strategy{strategies.Uring(strategies.EngineGiouring), strategies.UringDirect(strategies.EngineGiouring), strategies.UringMmap(strategies.EngineGiouring)} {
			s := testSuite(t)
			_, err := s.open(randomRow(s, st, "hot", 1))
			wantError(t, err, "-tags=giouring")
			if !errors.Is(err, strategy.ErrUnsupported) {
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
	for _, st := range ringStrategies() {
		if !strategyDirect(st) {
			continue
		}
		if _, err := s.open(randomRow(s, st, "hot", 1)); !errors.Is(err, strategy.ErrUnsupported) {
			t.Errorf("%s: %v, want a reason to skip", st.Name(), err)
		}
	}
}

func strategyDirect(s strategy.Strategy) bool { return strings.HasPrefix(s.Name(), "uring-direct") }
