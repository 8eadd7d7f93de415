package prefetchmicro

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/cpu"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/strategy"
)

// RunFaults measures how many page faults per second this machine handles, over THREADS (1, 2, 4, 8 and 16) threads:
// whether they bind on what the kernel locks for a process (mmap_lock), for a mapping (its VMA), or for a page table,
// shows where one mapping for all threads (mapping=shared) and one for each (mapping=own) differ.
//
// hot: minor faults. The file is resident, the mapping's pages are dropped, and one byte is touched in each piece that
// one fault maps (64 KiB: the kernel maps what is resident around a fault). cold: major faults. The file is evicted,
// and one byte is touched in each page, at random places of a mapping advised MADV_RANDOM, so that none is read ahead.
// A row fails if its touches were not one fault each.
func RunFaults(b *testing.B) {
	suite := readbench.Start(b)
	config := suite.Config()
	for _, pageCase := range config.Cases {
		for _, own := range []bool{false, true} {
			for _, threads := range config.Threads.Or(1, 2, 4, 8, 16) {
				label := "mapping=shared"
				if own {
					label = "mapping=own"
				}
				suite.Run(b, readbench.Row{
					Strategy: faults{own}, Case: pageCase, Threads: threads, Labels: []string{label},
					Effect: readbench.EffectFault, Batch: 1, MaxRange: 1, Predrawn: true,
					Op: func(w *readbench.Worker) (func() error, error) {
						t := w.Reader().(*toucher)
						return func() error {
							rs, err := w.Take()
							if err == nil {
								t.sum += t.data[rs[0].Off]
							}
							return err
						}, nil
					},
				})
			}
		}
	}
}

// faults maps the file once, or once for each worker.
type faults struct{ own bool }

func (faults) Name() string { return "faults" }

func (s faults) Open(f *strategy.File, setup strategy.Setup) (_ strategy.Opened, err error) {
	fd, err := f.Open(0)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	defer fd.Close()
	o := new(faultsOpened)
	defer func() {
		if err != nil {
			err = errors.Join(err, o.Close())
		}
	}()
	for len(o.maps) == 0 || s.own && len(o.maps) < setup.Threads {
		m, err := mapping.Open(fd, f.Size(), f.PageSize())
		if err != nil {
			return nil, err
		}
		o.maps = append(o.maps, m)
		if err := m.Advise(mapping.Random); err != nil {
			return nil, err
		}
	}
	return o, nil
}

type faultsOpened struct{ maps []*mapping.Map }

func (o *faultsOpened) Reader(worker int) (strategy.Reader, error) {
	return &toucher{data: o.maps[worker%len(o.maps)].Bytes()}, nil
}

func (o *faultsOpened) Close() error { return o.each((*mapping.Map).Close) }

func (o *faultsOpened) Populate(off, n int64) error {
	return o.each(func(m *mapping.Map) error { return m.Populate(off, n) })
}

func (o *faultsOpened) Drop(off, n int64) error {
	return o.each(func(m *mapping.Map) error { return m.Drop(off, n) })
}

func (o *faultsOpened) each(do func(*mapping.Map) error) (err error) {
	for _, m := range o.maps {
		err = errors.Join(err, do(m))
	}
	return err
}

// toucher is a worker of a row of faults. sum is where what it loads goes, so that the compiler keeps the loads.
type toucher struct {
	data []byte
	sum  byte
	_    cpu.CacheLinePad
}

// Read is not what a toucher is for.
func (*toucher) Read(strategy.Range) ([]byte, error) {
	return nil, errors.New("faults delivers no bytes: it is measured in prefetchmicro only")
}
