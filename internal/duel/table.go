package duel

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/readbench/suite/internal/turns"
)

// A player is an entrant at the table.
type player struct {
	Entrant
	*process
	shape   *turns.Shape // nil until it is ready
	out     bool         // it has ended
	metrics map[string]float64
}

// left reports whether it was not even set up.
func (p *player) left() bool { return p.out && p.shape == nil }

// A table is where players sit. One at most works at any time; the others wait, and answer when the file is evicted.
type table struct {
	ctx      context.Context
	players  []*player
	patience time.Duration // for set-up and eviction
	slack    time.Duration // for the end of a turn
}

// A fault is that of one player.
type fault struct {
	player int
	skip   bool // it cannot run here, and says why
	err    error
}

func (f *fault) Error() string { return f.err.Error() }

// close ends all processes.
func (t *table) close() {
	for _, p := range t.players {
		if p.process != nil {
			p.commands.Close() // so that all end at the same time
		}
	}
	for _, p := range t.players {
		if p.process != nil {
			p.stop()
		}
	}
}

// seat starts player i and has it set up its row. It may ask the others that are ready to let the file be evicted.
func (t *table) seat(i int, warm bool) error {
	p := t.players[i]
	var err error
	if p.process, err = start(t.ctx, p.Spec, only(p.Row)); err != nil {
		return &fault{player: i, err: err}
	}
	for {
		m, err := p.offer(t.patience)
		if err != nil {
			return &fault{player: i, err: err}
		}
		if m.Row == p.Row {
			break
		}
		if err := p.send(turns.Message{Kind: turns.Pass}); err != nil {
			return &fault{player: i, err: err}
		}
	}
	m, err := t.ask(i, turns.Message{Kind: turns.Take, Index: i, Of: len(t.players), Warm: warm}, t.patience, turns.Ready, turns.Skip)
	switch {
	case err != nil:
		return err
	case m.Kind == turns.Skip:
		return &fault{player: i, skip: true, err: errors.New(m.Text)}
	case m.Shape == nil:
		return &fault{player: i, err: errors.New("it does not keep to the protocol of a duel: it is ready, and does not say for what")}
	}
	p.shape = m.Shape
	for _, other := range t.players[:i] {
		if other.shape != nil {
			if err := same(p, other); err != nil {
				return &fault{player: i, err: err}
			}
			break
		}
	}
	return nil
}

// ask sends a message to player i and waits for its answer. If it asks for an eviction meanwhile, it gets it.
func (t *table) ask(i int, m turns.Message, limit time.Duration, kinds ...turns.Kind) (turns.Message, error) {
	p := t.players[i]
	if err := p.send(m); err != nil {
		return m, &fault{player: i, err: err}
	}
	for {
		answer, err := p.receive(limit, append(kinds, turns.Evict)...)
		if err != nil {
			return answer, &fault{player: i, err: err}
		}
		if answer.Kind != turns.Evict {
			return answer, nil
		}
		if err := t.evict(i, answer.From); err != nil {
			return answer, err
		}
	}
}

// evict has all other players that hold the file drop their mappings' pages, player i evict it, and all others know.
func (t *table) evict(i int, from int64) error {
	others := func(m turns.Message, want turns.Kind) error {
		for j, other := range t.players {
			if j == i || other.out || other.shape == nil {
				continue
			}
			if err := other.send(m); err != nil {
				return &fault{player: j, err: err}
			}
			if _, err := other.receive(t.patience, want); err != nil {
				return &fault{player: j, err: err}
			}
		}
		return nil
	}
	p := t.players[i]
	if err := others(turns.Message{Kind: turns.Drop, From: from}, turns.Dropped); err != nil {
		return err
	}
	if err := p.send(turns.Message{Kind: turns.Go}); err != nil {
		return &fault{player: i, err: err}
	}
	if _, err := p.receive(t.patience, turns.Evicted); err != nil {
		return &fault{player: i, err: err}
	}
	if err := others(turns.Message{Kind: turns.Renew}, turns.Renewed); err != nil {
		return err
	}
	if err := p.send(turns.Message{Kind: turns.Go}); err != nil {
		return &fault{player: i, err: err}
	}
	return nil
}

// turn gives player i a turn.
func (t *table) turn(i int, length time.Duration) (turns.Result, error) {
	m, err := t.ask(i, turns.Message{Kind: turns.Turn, Nanos: int64(length)}, length+t.slack, turns.Done)
	if err != nil {
		return turns.Result{}, err
	}
	r := m.Result
	if r == nil || r.Ops < 0 || r.Nanos < 0 || r.Rate < 0 || math.IsInf(r.Rate, 0) || (r.Ops > 0) != (r.Rate > 0) || (r.Ops > 0 && r.Nanos == 0) {
		return turns.Result{}, &fault{player: i, err: fmt.Errorf("it does not keep to the protocol of a duel: a turn cannot have the result %+v", r)}
	}
	return *r, nil
}

// dismiss ends player i, who says what its evidence is.
func (t *table) dismiss(i int) error {
	p := t.players[i]
	m, err := t.ask(i, turns.Message{Kind: turns.End}, t.patience, turns.Ended)
	if err != nil {
		return err
	}
	p.metrics, p.out = m.Metrics, true
	p.stop()
	return nil
}

// same says in which way a player differs from another where it must not.
func same(p, other *player) error {
	a, b := p.shape, other.shape
	var differ []string
	compare := func(what string, a, b any) {
		if a != b {
			differ = append(differ, fmt.Sprintf("%s is %v, and not %v", what, a, b))
		}
	}
	compare("the file", a.File, b.File)
	compare("its size in bytes", a.Size, b.Size)
	compare("the number of places to read", a.Slots, b.Slots)
	compare("their size in bytes", a.SlotSize, b.SlotSize)
	compare("threads", a.Threads, b.Threads)
	compare("case", a.Case, b.Case)
	varied := map[string]bool{setting(p.Spec.Vary): true, setting(other.Spec.Vary): true}
	keys := slices.Sorted(maps.Keys(a.Config))
	for key := range maps.Keys(b.Config) {
		if _, ok := a.Config[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !varied[key] {
			compare(key, a.Config[key], b.Config[key])
		}
	}
	if differ == nil {
		return nil
	}
	return fmt.Errorf("it cannot be compared with %s: %s", other.Label, strings.Join(differ, "; "))
}

// setting is the configuration line of NAME=VALUE: READBENCH_READ_SIZE=… is read-size.
func setting(vary string) string {
	key, _, _ := strings.Cut(vary, "=")
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(key, "READBENCH_")), "_", "-")
}
