package readbench

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/readbench/suite/internal/turns"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// A row that takes turns with those of other processes (docs/duel.md). It is set up, judged and reported like any row; only when
// its workers work somebody else says. The messages are explained in package turns.

// contest offers a row to the coordinator of a duel, and has it take its turns if it is wanted.
func (s *Suite) contest(b *testing.B, row Row) {
	conn := s.contestant
	err := conn.Send(turns.Message{Kind: turns.Offer, Version: turns.Version, Row: b.Name()})
	if err != nil {
		b.Fatal(err)
	}
	m, err := conn.Expect(turns.Pass, turns.Take)
	if err != nil {
		b.Fatal(err)
	}
	if m.Kind == turns.Pass {
		b.SkipNow()
	}
	b.StopTimer()
	metrics, err := s.takeTurns(row, m)
	switch {
	case errors.Is(err, turns.ErrGone):
	case errors.Is(err, strategy.ErrUnsupported):
		err = errors.Join(err, conn.Send(turns.Message{Kind: turns.Skip, Text: err.Error()}))
	case err != nil:
		err = errors.Join(err, conn.Send(turns.Message{Kind: turns.Fail, Text: err.Error()}))
	default:
		err = conn.Send(turns.Message{Kind: turns.Ended, Metrics: metrics})
	}
	if err != nil {
		b.Fatal(err)
	}
}

// takeTurns sets the row up, and does what it is told until the duel ends.
func (s *Suite) takeTurns(row Row, take turns.Message) (metrics map[string]float64, err error) {
	if row.Drive != nil {
		return nil, strategy.Unsupported("%s: ops of an open loop come when they come, and not in turns", row.Strategy.Name())
	}
	conn := s.contestant
	if take.Warm {
		s.machine.Warmed()
	}
	r, err := s.openBeside(row, peers{conn, take.Index, take.Of})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	if err := r.begin(); err != nil {
		return nil, err
	}
	t := turnTaker{running: r}
	reply := turns.Message{Kind: turns.Ready, Shape: s.contestShape(r)}
	for {
		if err := conn.Send(reply); err != nil {
			return nil, err
		}
		m, err := conn.Expect(turns.Turn, turns.Drop, turns.Renew, turns.End)
		if err != nil {
			return nil, err
		}
		switch m.Kind {
		case turns.Turn:
			res, err := t.turn(time.Duration(m.Nanos))
			if err != nil {
				return nil, err
			}
			reply = turns.Message{Kind: turns.Done, Result: &res}
		case turns.Drop:
			if err := r.Drop(m.From); err != nil {
				return nil, err
			}
			reply = turns.Message{Kind: turns.Dropped}
		case turns.Renew:
			if err := r.state.Renew(); err != nil {
				return nil, err
			}
			reply = turns.Message{Kind: turns.Renewed}
		default:
			return t.end()
		}
	}
}

// contestShape is what must be the same for all contestants.
func (s *Suite) contestShape(r *running) *turns.Shape {
	lines := map[string]string{}
	for _, line := range s.configLines() {
		lines[line[0]] = line[1]
	}
	for key, value := range s.settings {
		lines[key] = value
	}
	return &turns.Shape{
		File: r.Files.String(), Size: r.Files.Size(), Slots: r.Geometry.Slots, SlotSize: r.Geometry.SlotSize,
		Threads: r.Shape.Threads, Case: r.Case, Config: lines,
	}
}

// peers are the other contestants, which are reached through the coordinator.
type peers struct {
	conn      *turns.Conn
	index, of int
}

func (p peers) Place() (index, of int) { return p.index, p.of }

func (p peers) Drop(from int64) error { return p.ask(turns.Message{Kind: turns.Evict, From: from}) }

func (p peers) Renew() error { return p.ask(turns.Message{Kind: turns.Evicted}) }

func (p peers) ask(m turns.Message) error {
	if err := p.conn.Send(m); err != nil {
		return err
	}
	_, err := p.conn.Expect(turns.Go)
	return err
}

// A turnTaker is a row between its first turn and its last.
type turnTaker struct {
	*running
	ops   int
	watch teeWatch
}

// turn has each worker run ops until it has worked for so long, and one at least. Ops that are under way then are finished and counted, and so is
// their time. What a worker waits for others is not its time: neither at the end of an epoch nor at that of the turn.
func (t *turnTaker) turn(length time.Duration) (turns.Result, error) {
	t.watch.b = noWatch{}
	ops, err := t.perform(t.Shape.Threads, &t.watch, func(work func(int, func() bool) bool) {
		var wg sync.WaitGroup
		for id, l := range t.workers {
			wg.Go(func() { work(id, func() bool { return l.worked(time.Now()) < length }) })
		}
		wg.Wait()
	})
	if err != nil {
		return turns.Result{}, err
	}
	t.ops += ops
	res := turns.Result{Ops: ops}
	for _, l := range t.workers {
		worked := l.worked(l.ended)
		res.Nanos += worked.Nanoseconds()
		res.Rate += float64(l.done) / worked.Seconds()
	}
	return res, nil
}

// end judges what was done in all turns, and returns its metrics by unit.
func (t *turnTaker) end() (map[string]float64, error) {
	if t.ops == 0 {
		return nil, fmt.Errorf("%s: the duel ended before its first turn", t.strategy)
	}
	res, err := t.finish(t.ops, t.watch.elapsed)
	if err == nil {
		err = t.judge(res)
	}
	if err != nil {
		return nil, err
	}
	metrics := map[string]float64{}
	report := func(v float64, unit string) { metrics[unit] = v }
	if t.row.Extra != nil {
		if err := t.row.Extra.Report(res.Ops, res.Elapsed, report); err != nil {
			return nil, err
		}
	}
	const ofOwn = -1 // the testing package reports nothing of it
	res.Report(report, ofOwn, t.Config.Metrics == config.MetricsAll)
	return metrics, nil
}
