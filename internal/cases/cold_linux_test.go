package cases

import (
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/draw"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// siteOn is a row of one thread that reads 16 ranges of 16 KiB an op, on a data file of its own.
func siteOn(t *testing.T, size int64) *Site {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	path := filepath.Join(dir, "data.bin")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: size, Seed: 1}); err != nil {
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
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	s := &shape.Shape{Threads: 1, Batch: 16, MaxRange: 16 << 10}
	return &Site{
		Shape: s, Config: c, Files: files.Set{f}, Machine: new(Machine), Opened: []strategy.Opened{buffered{}},
		Geometry: draw.Cut(s, size, f.PageSize(), f.PageSize(), false),
	}
}

// buffered is a strategy at work that neither maps the file nor reads it directly.
type buffered struct{ strategy.Opened }

// ops are trials made of a function.
type ops struct {
	Ops
	pilot func() (uint64, error)
}

func (o ops) Pilot() (uint64, error) { return o.pilot() }

// lonely is the gate of a worker that is never to wait.
type lonely struct{}

func (lonely) Pause() error { return errors.New("the epoch is used up") }
func (lonely) CatchUp()     {}

// The pilot's ops together warm more than an epoch may, but the pilot is none: what it found holds. An epoch that warms as
// much has the next one made shorter.
func TestPilotIsNoEpoch(t *testing.T) {
	const size, ahead = 64 << 20, 512 << 10
	site := siteOn(t, size)
	state, err := coldCase{}.Enter(t.Context(), site)
	if err != nil {
		t.Fatal(err)
	}
	drawer := state.Drawer(0, rand.NewPCG(1, 0), lonely{})
	buf := make([]byte, ahead)
	warm := func(off int64) error { // a read-ahead
		_, err := site.Files[0].Control.ReadAt(buf, off&^(ahead-1))
		return err
	}
	site.Ops = ops{pilot: func() (uint64, error) {
		rs := make([]strategy.Range, site.Shape.Batch)
		for range 3 {
			for rest := rs; len(rest) > 0; {
				n, err := drawer.Draw(rest)
				if err != nil {
					return 0, err
				}
				for _, r := range rest[:n] {
					if err := warm(r.Off); err != nil {
						return 0, err
					}
				}
				rest = rest[n:]
			}
		}
		return uint64(len(rs)) * ahead, nil
	}}
	if err := state.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := func() int64 { return state.(*coldState).want }
	found := want()
	if resident, err := site.Files.Resident(); err != nil || resident.Share() <= coldEpochShare {
		t.Errorf("%v, %v: the pilot is to warm more than %v", resident, err, coldEpochShare)
	}
	restore := func(when Moment) {
		t.Helper()
		if err := state.Restore(t.Context(), when); err != nil {
			t.Fatal(err)
		}
		if resident, err := site.Files.Resident(); err != nil || resident.Share() > coldResident {
			t.Errorf("%v, %v: it is to be evicted", resident, err)
		}
	}
	read := func() {
		t.Helper()
		r := make([]strategy.Range, 1)
		if _, err := drawer.Draw(r); err != nil {
			t.Fatal(err)
		}
		if err := warm(r[0].Off); err != nil {
			t.Fatal(err)
		}
	}
	restore(CallStart)
	read()
	restore(EpochEnd)
	if want() != found {
		t.Errorf("the pilot said %d reads an epoch, now there are %d", found, want())
	}
	read()
	if _, err := io.Copy(io.Discard, io.NewSectionReader(site.Files[0].Control, 0, size*15/100)); err != nil {
		t.Fatal(err)
	}
	restore(EpochEnd)
	if want() >= found {
		t.Errorf("an epoch warmed 15 %% of the file, and there are %d reads in the next one, there were %d", want(), found)
	}
}
