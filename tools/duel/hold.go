package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/readbench/suite/internal/duel"
)

// slack is how long the end of a turn may take: ops under way are finished.
const slack = 30 * time.Second

// A report is the format json: how all duels were held, and what came of each.
type report struct {
	Level   float64        `json:"level"` // error probability of all that is said
	Resolve float64        `json:"resolve"`
	Alone   []string       `json:"alone,omitempty"` // rows without a partner
	Duels   []*duel.Result `json:"duels"`
}

// hold holds all duels. An error is one of the input, or of writing the result.
func hold(ctx context.Context, o options, stdout, stderr io.Writer) (failed bool, err error) {
	dir, err := os.MkdirTemp("", "duel-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	line := newStatus(stderr)
	defer line.clear()
	line.show("building")
	contestants, err := specs(ctx, o, dir)
	if err != nil {
		return false, err
	}
	rows := make([][]string, len(contestants))
	for i, s := range contestants {
		line.show("listing the rows of %s", s.Name)
		if rows[i], err = duel.List(ctx, s, o.patience); err != nil {
			return false, err
		}
	}
	var plans []duel.Plan
	r := report{Level: float64(o.level), Resolve: float64(o.resolve), Duels: []*duel.Result{}}
	if o.race {
		plans, r.Alone = duel.Gather(contestants, rows)
	} else if plans, r.Alone, err = duel.Pair(contestants, rows); err != nil {
		return false, err
	}
	line.clear()
	for _, row := range r.Alone {
		fmt.Fprintf(stderr, "# duel: there is nothing to compare with %s\n", row)
	}
	if len(plans) == 0 {
		return false, errors.New("no two rows belong together")
	}
	w, closeOut, err := o.output(stdout)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, closeOut()) }()
	for i, plan := range plans {
		progress := func(rounds int, spent time.Duration) {
			line.show("%d of %d: %s: round %d, %.0f s", i+1, len(plans), plan.Title, rounds, spent.Seconds())
		}
		line.show("%d of %d: %s: setting up %d contestants", i+1, len(plans), plan.Title, len(plan.Entrants))
		result, err := duel.Run(ctx, plan, duel.Options{
			Alpha: float64(o.level) / float64(len(plans)), Resolve: float64(o.resolve),
			Budget: o.budget, Turn: o.turn, Patience: o.patience, Slack: slack, Progress: progress,
		})
		line.clear()
		if err != nil {
			return false, err
		}
		failed = failed || result.Failed()
		r.Duels = append(r.Duels, result)
		if err := o.print(result, w, stdout); err != nil {
			return false, err
		}
	}
	return failed, o.finish(r, w)
}

// print says what came of one duel.
func (o *options) print(r *duel.Result, w, stdout io.Writer) error {
	if o.format == "bench" {
		if err := r.Samples(w); err != nil {
			return err
		}
	}
	if o.format == "text" {
		return r.Words(w)
	}
	if o.out != "" {
		return r.Words(stdout)
	}
	return nil
}

// finish says what comes after all duels.
func (o *options) finish(r report, w io.Writer) error {
	switch {
	case o.format == "json":
		e := json.NewEncoder(w)
		e.SetIndent("", "\t")
		return e.Encode(r)
	case o.format == "text" && len(r.Duels) > 1 && !o.race:
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		return duel.Table(w, r.Duels)
	}
	return nil
}
