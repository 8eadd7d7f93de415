package duel

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// A Spec is a contestant as it was asked for: rows of a test binary in an environment.
type Spec struct {
	Binary string   // absolute path
	Name   string   // what people call it: as it was asked for
	Dir    string   // where it runs
	Vary   string   // NAME=VALUE, which tells it from the others; or ""
	Bench  string   // regular expression, as for -test.bench
	Env    []string // of its process; nil is that of this one. Vary comes on top
}

// An Entrant is one row of a Spec that takes part in a duel.
type Entrant struct {
	Spec  Spec
	Row   string // full name
	Label string // what tells it from the others of its duel
}

// A Plan is a duel that can be held.
type Plan struct {
	Title    string // what the entrants have in common: the function, if it is the same, and the cell
	Race     bool   // all contestants of a cell, and not rows that belong together
	Entrants []Entrant
}

// pairings are the keys by which rows of different specs belong together, the strictest first.
var pairings = []func(name) string{
	func(n name) string { return n.function + "/" + strings.Join(n.who(), "/") },
	func(n name) string { return strings.Join(n.who(), "/") },
	func(n name) string { return n.function },
	func(name) string { return "" },
}

// Pair finds which rows belong together: rows[i] are those of specs[i]. Rows of one cell (case, read, threads, procs, topk, rate) that have the same
// function and labels; of what is left those with the same labels; then with the same function; then whatever is left, if it
// is one row of each. Rows that others have no partner for are named in alone. If there are several, and nothing says which belong together, that is
// an error.
func Pair(specs []Spec, rows [][]string) (plans []Plan, alone []string, err error) {
	type place struct{ spec, row int }
	var cells []string
	open := map[string][]place{}
	for i := range rows {
		for j, row := range rows[i] {
			c := parse(row).cell()
			if open[c] == nil {
				cells = append(cells, c)
			}
			open[c] = append(open[c], place{i, j})
		}
	}
	for _, c := range cells {
		var found [][]place
		for _, key := range pairings {
			groups := map[string][]place{}
			for _, p := range open[c] {
				k := key(parse(rows[p.spec][p.row]))
				groups[k] = append(groups[k], p)
			}
			for _, p := range slices.Clone(open[c]) {
				group := groups[key(parse(rows[p.spec][p.row]))]
				if p == group[0] && oneOfEach(len(specs), len(group), func(i int) int { return group[i].spec }) {
					found = append(found, group)
					open[c] = slices.DeleteFunc(open[c], func(p place) bool { return slices.Contains(group, p) })
				}
			}
		}
		slices.SortStableFunc(found, func(a, b []place) int { return cmp.Compare(a[0].row, b[0].row) })
		for _, group := range found {
			var entrants []Entrant
			for _, p := range group {
				entrants = append(entrants, Entrant{Spec: specs[p.spec], Row: rows[p.spec][p.row]})
			}
			plans = append(plans, newPlan(entrants, false))
		}
		of := make([][]string, len(specs))
		for _, p := range open[c] {
			of[p.spec] = append(of[p.spec], rows[p.spec][p.row])
			alone = append(alone, rows[p.spec][p.row]+" of "+specs[p.spec].describe())
		}
		if len(open[c]) > 0 && !slices.ContainsFunc(of, func(rows []string) bool { return len(rows) == 0 }) {
			return nil, nil, fmt.Errorf("nothing says which rows of %s belong together: %s; select fewer with -bench and -against, or let all of them race with -race", c, strings.Join(alone, ", "))
		}
	}
	return plans, alone, nil
}

// oneOfEach reports whether n places are one of each of k specs.
func oneOfEach(k, n int, spec func(i int) int) bool {
	seen := map[int]bool{}
	for i := range n {
		seen[spec(i)] = true
	}
	return n == k && len(seen) == k
}

// harness is the function of rows that read nothing: no contestant.
const harness = "Null"

// Gather lets all rows of a cell race against each other, but for those that measure the harness only (BenchmarkNull). A row that is alone in its
// cell is named in alone.
func Gather(specs []Spec, rows [][]string) (plans []Plan, alone []string) {
	var cells []string
	in := map[string][]Entrant{}
	for i := range rows {
		for _, row := range rows[i] {
			n := parse(row)
			if n.function == harness {
				continue
			}
			c := n.cell()
			if in[c] == nil {
				cells = append(cells, c)
			}
			in[c] = append(in[c], Entrant{Spec: specs[i], Row: row})
		}
	}
	for _, c := range cells {
		if len(in[c]) == 1 {
			alone = append(alone, in[c][0].Row+" of "+in[c][0].Spec.describe())
			continue
		}
		plans = append(plans, newPlan(in[c], true))
	}
	return plans, alone
}

// describe is a spec in words.
func (s Spec) describe() string {
	if s.Vary == "" {
		return s.Name
	}
	return s.Name + " with " + s.Vary
}

// newPlan gives the entrants their labels, and the duel its title.
func newPlan(entrants []Entrant, race bool) Plan {
	var order []string
	values := make([]map[string]string, len(entrants))
	for i, e := range entrants {
		var keys []string
		keys, values[i] = parse(e.Row).parts()
		for _, k := range keys {
			if !slices.Contains(order, k) {
				order = append(order, k)
			}
		}
	}
	title := []string{}
	var differ []string
	for _, k := range order {
		if slices.ContainsFunc(values, func(v map[string]string) bool { return v[k] != values[0][k] }) {
			differ = append(differ, k)
			continue
		}
		part := values[0][k]
		if k != "" {
			part = k + "=" + part
		}
		title = append(title, part)
	}
	p := Plan{Race: race, Entrants: entrants}
	for i := range entrants {
		var parts []string
		for _, k := range differ {
			switch v, ok := values[i][k]; {
			case !ok:
			case k == "" || len(differ) == 1:
				parts = append(parts, v)
			default:
				parts = append(parts, k+"="+v)
			}
		}
		entrants[i].Label = strings.Join(parts, " ")
	}
	tellApart(entrants, func(e Entrant) string { return strings.TrimPrefix(e.Spec.Vary, "READBENCH_") })
	tellApart(entrants, func(e Entrant) string { return filepath.Base(e.Spec.Name) })
	tellApart(entrants, func(e Entrant) string { return e.Spec.Name })
	function := parse(entrants[0].Row).function
	n := 0
	tellApart(entrants, func(Entrant) string { n++; return fmt.Sprintf("%s#%d", function, n) })
	p.Title = strings.Join(append(title, parse(entrants[0].Row).pick(true)...), "/")
	return p
}

// tellApart adds more to the labels if two are the same, and if more differs.
func tellApart(entrants []Entrant, more func(Entrant) string) {
	labels, mores := map[string]bool{}, map[string]bool{}
	added := make([]string, len(entrants))
	for i, e := range entrants {
		added[i] = more(e)
		labels[e.Label], mores[added[i]] = true, true
	}
	if len(labels) == len(entrants) || len(mores) == 1 {
		return
	}
	for i := range entrants {
		entrants[i].Label = strings.TrimSpace(entrants[i].Label + " " + added[i])
	}
}
