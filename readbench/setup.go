package readbench

import (
	"errors"

	"github.com/readbench/suite/internal/cases"
	"github.com/readbench/suite/internal/shape"
)

// open sets a row up: everything that happens once.
func (s *Suite) open(row Row) (*running, error) { return s.openBeside(row, nil) }

// openBeside is open of a row whose files others hold, too; nil if nobody does.
func (s *Suite) openBeside(row Row, peers cases.Peers) (r *running, err error) {
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
	r.Ops, r.Peers = ops, peers
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
