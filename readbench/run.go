package readbench

import (
	"errors"
	"strconv"
	"testing"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// Run measures a row as a sub-benchmark of b. It skips what cannot run here, with the cause, and fails the row
// if a read went wrong or what was measured contradicts the row's name.
func (s *Suite) Run(b *testing.B, row Row) {
	name, err := row.name(s.config.Procs)
	if err := errors.Join(err, s.Setting("depth", strconv.Itoa(row.depth(s.config)))); err != nil {
		b.Fatal(err)
	}
	var r *running // opened by the first call; the testing package makes several
	b.Run(name, func(b *testing.B) {
		var err error
		first := r == nil
		if first {
			r, err = s.open(row)
		}
		if first && err == nil {
			compared.add(b.Name())
		}
		if err == nil {
			err = r.call(b)
		}
		if first && errors.Is(err, strategy.ErrUnsupported) { // a later call must not skip: the testing package would print a result
			skip(b, err)
		}
		if err != nil {
			b.Fatal(err)
		}
		notice.Hold() // from here on, half a result line may be on the output
	})
	notice.Release()
	if r != nil {
		if err := r.close(); err != nil {
			b.Error(err)
		}
	}
}

// open sets a row up: everything that happens once.
func (s *Suite) open(row Row) (r *running, err error) {
	ctx, cancel := s.config.SetupContext()
	defer cancel()
	pageCase, err := cases.Parse(row.Case)
	if err != nil {
		return nil, err
	}
	r, err = newRunning(row, s.config, s.files, &s.machine, s.source())
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.close())
			r = nil
		}
	}()
	ops := trials{r}
	r.Ops = ops
	if err := r.open(ctx, pageCase); err != nil {
		return r, err
	}
	if err := ops.reachDevice(); err != nil {
		return r, err
	}
	counts, err := r.counts()
	if err := errors.Join(err, s.declareUnits(counts)); err != nil {
		return r, err
	}
	if !r.counted && row.Effect != shape.None {
		s.machine.Explain(row.Strategy.Name(), "its readers are no Counters: rows have no KIND/op, and that it reads and hints by the calls it is named for is not verified")
	}
	if err := r.state.Prepare(ctx); err != nil {
		return r, s.config.Deadline(ctx, err)
	}
	return r, ops.warmUp(ctx)
}
