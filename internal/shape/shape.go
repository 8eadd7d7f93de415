// Package shape says what one op of a row does: the part of a row that cases, drawing and results need to know. It knows
// nothing of the strategy, the case or the files.
package shape

import (
	"errors"
	"fmt"

	"github.com/readbench/suite/readbench/strategy"
)

// A Shape is what the workers of a row do. The fields are those of readbench.Row, where they are explained.
type Shape struct {
	Threads   int
	Order     strategy.Order
	Effect    Effect
	Batch     int
	MaxRange  int
	MaxRanges int
	Units     int64
	Predrawn  bool
	PerRange  bool
	Skewed    bool
	Driven    bool // ops come when somebody else says, not one after the other
}

// Effect is what an op does to the ranges that it draws: by what the evidence of its row is judged.
type Effect int

// The effects.
const (
	Read  Effect = iota // they are delivered
	Hint                // the kernel reads them into the page cache; nothing is delivered
	Probe               // it is looked whether they are resident, which the readers count
	Fault               // each is one page fault
	None                // nothing happens: the row measures the harness
)

// Check refuses shapes that make no sense. ownOp is whether the workload brings an op of its own.
func (s *Shape) Check(ownOp bool) error {
	switch {
	case s.Threads < 1 || s.Batch < 1 || s.MaxRange < 1:
		return fmt.Errorf("a row has at least one thread, and an op one range of one byte: not %d, %d and %d", s.Threads, s.Batch, s.MaxRange)
	case s.Predrawn && s.Order == strategy.OrderSequential:
		return errors.New("a Predrawn row is of random order")
	case s.Units > 0:
		return s.checkUnits(ownOp)
	case s.Predrawn != (s.Effect == Hint || s.Effect == Probe || s.Effect == Fault) && s.Effect != None:
		return errors.New("a row of hints, probes or faults is Predrawn, and one of reads is not")
	case s.Predrawn && !ownOp:
		return errors.New("a Predrawn row says what its Op is")
	}
	return nil
}

func (s *Shape) checkUnits(ownOp bool) error {
	switch {
	case s.Predrawn || s.Order != strategy.OrderRandom:
		return errors.New("a row of Units is not Predrawn, and of random order")
	case s.Effect != Read && s.Effect != Hint:
		return errors.New("a row of Units reads or hints")
	case !ownOp:
		return errors.New("a row of Units says what its Op is")
	}
	return nil
}

// ReaderBatch is how many ranges a reader is asked for at a time, at the most.
func (s *Shape) ReaderBatch() int { return max(s.MaxRanges, s.Batch) }

// BytesPerOp is how many bytes the op's ranges have.
func (s *Shape) BytesPerOp() int64 { return int64(s.Batch) * int64(s.MaxRange) }
