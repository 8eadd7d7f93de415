package duel

import (
	"context"
	"errors"
	"slices"
)

// Run holds a duel. A contestant that cannot run here, or whose evidence fails, fails it; in a race it is left out, and, if there were turns already,
// the others race anew. An error is that of ctx, or of the options.
func Run(ctx context.Context, plan Plan, o Options) (*Result, error) {
	result := &Result{Title: plan.Title, Race: plan.Race}
	entrants := slices.Clone(plan.Entrants)
	for {
		m := &match{options: o, table: &table{ctx: ctx, patience: o.Patience, slack: o.Slack}}
		for _, e := range entrants {
			m.players = append(m.players, &player{Entrant: e})
		}
		err := m.hold(plan.Race, result)
		m.close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil {
			m.report(result)
			return result, nil
		}
		var f *fault
		switch {
		case errors.As(err, &f):
			result.leave(m.players[f.player].Label, f)
		case !errors.Is(err, errTooFew):
			return nil, err
		}
		entrants = nil
		for i, p := range m.players {
			if f == nil || i != f.player && !p.left() {
				entrants = append(entrants, p.Entrant)
			}
		}
		if !plan.Race || len(entrants) < 2 {
			result.giveUp()
			return result, nil
		}
	}
}
