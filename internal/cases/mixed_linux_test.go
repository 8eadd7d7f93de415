package cases

import (
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// noOps is a runner that has nothing to run.
type noOps struct{}

func (noOps) Pilot() (uint64, error)              { return 0, nil }
func (noOps) Until(func() bool) error             { return nil }
func (noOps) OnWorker(f func() error) error       { return f() }
func (noOps) Reader(int) (strategy.Reader, error) { return nil, nil }
func (noOps) Close() error                        { return nil }

// site is a row of random reads on a data file of its own, by a strategy that does not map.
func site(t *testing.T, name string) *Site {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	path := filepath.Join(dir, "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: 32 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load([]string{config.EnvPrefix + "FILE=" + path}, Check)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	s := &Site{
		Case: name, Shape: &shape.Shape{Threads: 1, Batch: 16, MaxRange: 16 << 10}, Config: c, Files: files.Set{f}, Machine: &Machine{},
		Opened: []strategy.Opened{noOps{}}, Ops: noOps{},
	}
	s.Geometry = draw.Cut(s.Shape, f.Size(), f.PageSize(), f.PageSize(), false)
	return s
}

// The resident part stays while the row runs, whoever wants its pages that nobody maps, such as a daemon. If they are gone all the
// same, the row fails.
func TestMixedHoldsTheResidentPart(t *testing.T) {
	s := site(t, "mixed50")
	f := s.Files[0]
	c, err := Parse("mixed50")
	if err != nil {
		t.Fatal(err)
	}
	entered, err := c.Enter(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	state := entered.(*mixedState)
	defer state.Close()
	if err := state.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	evict := func() {
		t.Helper()
		if err := unix.Fadvise(int(f.Control.Fd()), 0, state.border, unix.FADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
	evict()
	if r, err := pagecache.Resident(f.Control, 0, state.border); err != nil || r.Resident != r.Pages {
		t.Errorf("while it is held: %v, %v", r, err)
	}
	if err := state.held.Drop(0, state.border); err != nil {
		t.Fatal(err)
	}
	evict()
	err = state.Judge(&result.Result{Shape: s.Shape, Page: f.PageSize(), Ops: 1})
	if err == nil || !strings.Contains(err.Error(), "pages left the page cache") {
		t.Errorf("when it is gone: %v", err)
	}
	if err := state.Close(); err != nil {
		t.Error(err)
	}
	state.held = nil
	if r, err := (pagecache.Evictor{}).Evict(t.Context(), f.Control, f.Size()); err != nil || r.Resident > 0 {
		t.Errorf("after the row: %v, %v", r, err)
	}
}

// place is a contestant among others that need nothing done.
type place struct{ index, of int }

func (p place) Place() (index, of int) { return p.index, p.of }
func (place) Drop(int64) error         { return nil }
func (place) Renew() error             { return nil }

// What one contestant of a duel draws cold no other one draws, however far each of them has come.
func TestContestantsShareNoColdPlace(t *testing.T) {
	for _, name := range []string{"cold", "mixed99"} {
		const of = 3
		seen := map[int64]int{}
		for index := range of {
			s := site(t, name)
			s.Peers = place{index, of}
			c, err := Parse(name)
			if err != nil {
				t.Fatal(err)
			}
			state, err := c.Enter(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			d := state.Drawer(0, rand.NewPCG(1, 1), quiet{})
			if err := state.Prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := state.Restore(t.Context(), CallStart); err != nil {
				t.Fatal(err)
			}
			rs, n := make([]strategy.Range, 16), 0
			for range 10 {
				k, err := d.Draw(rs)
				if err != nil {
					t.Fatal(err)
				}
				for _, r := range rs[:k] {
					if name != "cold" && r.Off < s.Files[0].Size()/2 {
						continue // of the resident part, with replacement
					}
					slot := r.Off / s.Geometry.SlotSize
					if was, ok := seen[slot]; ok {
						t.Fatalf("%s: contestants %d and %d both draw slot %d", name, was, index, slot)
					}
					seen[slot] = index
					n++
				}
			}
			if n < 140 {
				t.Errorf("%s: contestant %d drew %d cold places", name, index, n)
			}
			if closer, ok := state.(io.Closer); ok {
				closer.Close()
			}
		}
	}
}

// quiet is a gate that nobody comes to.
type quiet struct{}

func (quiet) Pause() error { return errors.New("the epoch is used up") }
func (quiet) CatchUp()     {}
