package duel

import (
	"crypto/rand"
	"errors"
	"fmt"
	randv2 "math/rand/v2"
	"slices"
	"time"

	"github.com/readbench/suite/internal/anytime"
	"github.com/readbench/suite/internal/turns"
)

// Options are those of a duel.
type Options struct {
	Alpha    float64       // error probability of all that the duel says
	Resolve  float64       // differences up to this are none: 0.01 is one per cent
	Budget   time.Duration // for turns of two contestants; of k, k/2 times that
	Turn     time.Duration // least length of a turn
	Patience time.Duration // for set-up, an eviction, and the end of a row
	Slack    time.Duration // for the end of a turn
	// Progress, if not nil, is called now and then between two rounds, when nobody works, with what is known.
	Progress func(rounds int, spent time.Duration)
}

const (
	// warmups are the rounds that do not count, by which the length of a turn is chosen.
	warmups = 3
	// opsInTurn is how many ops of average length each worker shall do in a turn, at least.
	opsInTurn = 4
	// longestTurn is one in which even the slowest contestant must do an op.
	longestTurn = 10 * time.Second
	// glance is the time between two calls of Progress.
	glance = 200 * time.Millisecond
)

// A match is one try to hold a duel.
type match struct {
	*table
	options Options
	race    *anytime.Race
	length  time.Duration    // of a turn
	rounds  [][]turns.Result // by round and player; rate −1 of those that are out
	spent   time.Duration
}

// hold holds the duel to its end. In a race, players who cannot be set up leave it.
func (m *match) hold(race bool, result *Result) error {
	if err := m.setUp(race, result); err != nil {
		return err
	}
	order, err := coin()
	if err != nil {
		return err
	}
	if err := m.chooseLength(order); err != nil {
		return err
	}
	if m.race, err = anytime.NewRace(len(m.players), m.options.Alpha, m.options.Resolve); err != nil {
		return err
	}
	budget := m.options.Budget * time.Duration(len(m.players)) / 2
	start, glanced := time.Now(), time.Now()
	for m.spent < budget && !m.race.Done() {
		if err := m.round(order); err != nil {
			return err
		}
		m.spent = time.Since(start)
		if m.options.Progress != nil && time.Since(glanced) >= glance {
			m.options.Progress(len(m.rounds), m.spent)
			glanced = time.Now()
		}
	}
	for i, p := range m.players {
		if !p.out {
			if err := m.dismiss(i); err != nil {
				return err
			}
		}
	}
	return nil
}

// setUp seats all players, one after the other. The first that is ready makes the file resident.
func (m *match) setUp(race bool, result *Result) error {
	warm := false
	for i, p := range m.players {
		err := m.seat(i, warm)
		var f *fault
		if errors.As(err, &f) && f.player == i && race && m.ctx.Err() == nil {
			result.leave(p.Label, f)
			p.shape, p.out = nil, true
			if p.process != nil {
				p.stop()
			}
			continue
		}
		if err != nil {
			return err
		}
		warm = true
	}
	m.players = slices.DeleteFunc(m.players, (*player).left)
	if len(m.players) < 2 {
		return errTooFew
	}
	return nil
}

// errTooFew: of a race, fewer than two are left.
var errTooFew = errors.New("fewer than two contestants are left")

// coin is a generator that is seeded anew, and knows nothing of the rates.
func coin() (*randv2.Rand, error) {
	var seed [32]byte
	if _, err := rand.Read(seed[:]); err != nil {
		return nil, fmt.Errorf("a seed for the order of turns: %w", err)
	}
	return randv2.New(randv2.NewChaCha8(seed)), nil
}

// chooseLength gives each player some turns that do not count, and makes turns so long that a worker of the slowest does opsInTurn ops of average length.
func (m *match) chooseLength(order *randv2.Rand) error {
	m.length = m.options.Turn
	for {
		ops, nanos := make([]int, len(m.players)), make([]int64, len(m.players))
		for range warmups {
			for _, i := range order.Perm(len(m.players)) {
				r, err := m.turn(i, m.length)
				if err != nil {
					return err
				}
				ops[i] += r.Ops
				nanos[i] += r.Nanos
			}
		}
		idle := slices.Index(ops, 0)
		if idle < 0 {
			for i := range ops {
				need := time.Duration(opsInTurn * nanos[i] / int64(ops[i])) // nanos are those of all workers
				m.length = max(m.length, need.Round(time.Millisecond))
			}
			return nil
		}
		if m.length >= longestTurn {
			return &fault{player: idle, err: fmt.Errorf("it does no op in %d turns of %s", warmups, m.length)}
		}
		m.length *= 4
	}
}

// round gives each player in the race one turn, in an order that the coin says. Who is certainly not the fastest ends.
func (m *match) round(order *randv2.Rand) error {
	results, rates := make([]turns.Result, len(m.players)), make([]float64, len(m.players))
	for i := range results {
		results[i].Rate = -1
	}
	var in []int
	for i, p := range m.players {
		if !p.out {
			in = append(in, i)
		}
	}
	for _, k := range order.Perm(len(in)) {
		i := in[k]
		r, err := m.turn(i, m.length)
		if err != nil {
			return err
		}
		results[i], rates[i] = r, r.Rate
	}
	m.rounds = append(m.rounds, results)
	if err := m.race.Add(rates); err != nil {
		return err
	}
	for _, i := range in {
		if m.race.Out(i) && !m.race.Done() {
			if err := m.dismiss(i); err != nil {
				return err
			}
		}
	}
	return nil
}
