package readbench

import (
	"context"
	"time"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/directio"
	"github.com/readbench/suite/internal/evidence"
	"github.com/readbench/suite/readbench/strategy"
)

// trials runs ops of a row that are not measured: what a case may ask for (cases.Ops), and what the runner needs to know.
type trials struct{ *running }

// Pilot runs a few ops with one worker and returns the bytes that the worst of them made the device deliver.
func (t trials) Pilot() (most uint64, err error) {
	for range 3 {
		t.meter.Reset()
		if err := t.performEach(1, func() bool { return false }); err != nil { // one op is the least
			return 0, err
		}
		most = max(most, t.meter.Sum().DeviceBytes)
	}
	return most, nil
}

// Until has all workers run ops as long as more says.
func (t trials) Until(more func() bool) error { return t.performEach(t.Shape.Threads, more) }

// OnWorker runs f where a memory fault is an error.
func (t trials) OnWorker(f func() error) error { return t.workers[0].do(f) }

// warmUp runs the row for a while.
func (t trials) warmUp(ctx context.Context) error {
	if t.Config.Warmup == 0 {
		return nil
	}
	if err := t.state.Restore(ctx, cases.CallStart); err != nil {
		return err
	}
	end := time.Now().Add(t.Config.Warmup)
	return t.Until(func() bool { return time.Now().Before(end) })
}

// reachDevice makes one read of each file by a strategy that says that its reads are direct, and refuses it unless that makes a device
// deliver anything: an accepted O_DIRECT is not believed.
func (t trials) reachDevice() error {
	for i, o := range t.Opened {
		direct, ok := o.(strategy.Direct)
		if !ok {
			continue
		}
		n := min(t.Files[i].Size(), int64(direct.Alignment()), int64(t.Shape.MaxRange))
		if err := t.reachDeviceOf(i, strategy.Range{Off: 0, N: int(n)}); err != nil {
			return err
		}
	}
	return nil
}

// reachDeviceOf makes the read of one file.
func (t trials) reachDeviceOf(file int, rg strategy.Range) error {
	path := t.Files[file].Path()
	source := evidence.Source{Proc: t.source.Proc}
	before, err := source.Read()
	if err != nil {
		return strategy.Unsupported("direct reads: whether reads are direct cannot be seen here: %w", err)
	}
	err = t.OnWorker(func() error {
		w := t.workers[0]
		if _, err := w.all[file].reader.Read(rg); err != nil {
			return err
		}
		return w.settle() // what was read ahead is no part of a call
	})
	switch {
	case directio.Refused(err):
		return strategy.Unsupported("direct reads: %s was opened for direct reads, but the first one was refused: %w; does its file system support O_DIRECT?", path, err)
	case err != nil:
		return err
	}
	after, err := source.Read()
	if err != nil {
		return err
	}
	if after.DeviceBytes == before.DeviceBytes {
		return strategy.Unsupported("direct reads: one of %s reached no device: its file system takes O_DIRECT but has none (tmpfs), or does not tell, or the strategy reads through the page cache; use a file on a disk", path)
	}
	return nil
}
