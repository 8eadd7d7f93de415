package duel

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/readbench/suite/internal/turns"
)

// List starts a contestant, lets pass all rows that it offers, and returns their names. patience is how long it may take until the next.
func List(ctx context.Context, s Spec, patience time.Duration) (rows []string, err error) {
	p, err := start(ctx, s, s.Bench)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	for {
		m, err := p.offer(patience)
		var ended *endedError
		switch {
		case errors.As(err, &ended) && ended.status == nil && len(rows) == 0:
			return nil, fmt.Errorf("%s: no row matches -bench %q, or it is no test binary of readbench that takes turns%s", s.describe(), s.Bench, ended.said)
		case errors.As(err, &ended) && ended.status == nil:
			return rows, nil
		case errors.As(err, &ended):
			return nil, fmt.Errorf("%s: %w%s", s.describe(), ended.status, ended.said)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", s.describe(), err)
		}
		if !slices.Contains(rows, m.Row) {
			rows = append(rows, m.Row)
		}
		if err := p.send(turns.Message{Kind: turns.Pass}); err != nil {
			return nil, err
		}
	}
}

// offer waits for the next row.
func (p *process) offer(patience time.Duration) (turns.Message, error) {
	m, err := p.receive(patience, turns.Offer)
	if err == nil && m.Version != turns.Version {
		p.kill()
		err = fmt.Errorf("it speaks version %d of the protocol of a duel, and not %d: build all of them, and this program, from sources that have the same", m.Version, turns.Version)
	}
	return m, err
}

// only is the -test.bench that selects one row.
func only(row string) string {
	levels := strings.Split(row, "/")
	for i, level := range levels {
		levels[i] = "^" + regexp.QuoteMeta(level) + "$"
	}
	return strings.Join(levels, "/")
}
