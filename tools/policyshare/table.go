package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// unit is what is compared; more of it is better.
const unit = "ops/ms"

// A table is cells and policies, in the order in which they were first seen.
type table struct {
	cells    []*cell
	policies []string
	config   map[string]string // configuration lines that all rows have
	warnings []string          // what was left out
}

// A cell is the rows that differ in nothing but the policy.
type cell struct {
	name   string                     // without Benchmark, the policy and the number of processors
	values map[string]map[int]float64 // by policy and round
}

// readFile reads a round.
func (t *table) readFile(path string, round int) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("a round: %w", err)
	}
	defer f.Close()
	return t.read(f, path, round)
}

// read reads a round from r, which errors call name.
func (t *table) read(r io.Reader, name string, round int) error {
	in := benchfmt.NewReader(r, name)
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			t.warnings = append(t.warnings, fmt.Sprintf("%v: no result, left out: did that row fail?", rec))
		case *benchfmt.Result:
			if err := t.add(rec, round); err != nil {
				file, line := rec.Pos()
				return fmt.Errorf("%s:%d: %w", file, line, err)
			}
		}
	}
	return in.Err()
}

func (t *table) add(r *benchfmt.Result, round int) error {
	base, parts := r.Name.Parts()
	kept, policy := []string{string(base)}, ""
	for _, part := range parts {
		s := string(part)
		if p, ok := strings.CutPrefix(s, "/policy="); ok {
			policy = p
		} else if s[0] == '/' { // else it is the number of processors
			kept = append(kept, s[1:])
		}
	}
	v, ok := r.Value(unit)
	if policy == "" || !ok {
		return nil
	}
	if math.IsNaN(v) || math.IsInf(v, 0) || v <= 0 {
		return fmt.Errorf("row Benchmark%s has %v %s; a rate is above 0", r.Name, v, unit)
	}
	if err := t.sameConfig(r); err != nil {
		return err
	}
	c := t.cell(strings.Join(kept, "/"))
	if !slices.Contains(t.policies, policy) {
		t.policies = append(t.policies, policy)
	}
	if c.values[policy] == nil {
		c.values[policy] = map[int]float64{}
	}
	if _, twice := c.values[policy][round]; twice {
		return fmt.Errorf("row Benchmark%s is there twice: %w", r.Name, errNotRounds)
	}
	c.values[policy][round] = v
	return nil
}

var errNotRounds = errors.New("a file has one round; give the files of the rounds (round-*.txt), not one of all, and run with -count=1")

// sameConfig returns an error if r was measured under another configuration than the rows before it.
func (t *table) sameConfig(r *benchfmt.Result) error {
	config := map[string]string{}
	for _, c := range r.Config {
		if c.File {
			config[c.Key] = string(c.Value)
		}
	}
	if t.config == nil {
		t.config = config
	}
	for _, c := range []map[string]string{config, t.config} {
		for _, key := range slices.Sorted(maps.Keys(c)) {
			if config[key] != t.config[key] {
				return fmt.Errorf("row Benchmark%s was measured with %s: %q, rows before it with %q: only what was measured alike is compared", r.Name, key, config[key], t.config[key])
			}
		}
	}
	return nil
}

func (t *table) cell(name string) *cell {
	for _, c := range t.cells {
		if c.name == name {
			return c
		}
	}
	c := &cell{name, map[string]map[int]float64{}}
	t.cells = append(t.cells, c)
	return c
}

// best is the policy with the highest median among those that have every round that any policy of the cell has; among
// all of them, if none has. Of equals, it is the one that policies has first. lack says which others have how many
// rounds.
func (c *cell) best(policies []string) (best string, rounds int, lack []string) {
	all := map[int]bool{}
	for _, values := range c.values {
		for round := range values {
			all[round] = true
		}
	}
	rounds = len(all)
	complete := func(p string) bool { return len(c.values[p]) == rounds }
	none := !slices.ContainsFunc(policies, complete)
	highest := 0.0
	for _, p := range policies {
		values := slices.Collect(maps.Values(c.values[p]))
		if len(values) == 0 {
			continue
		}
		if !complete(p) {
			lack = append(lack, fmt.Sprintf("%s (%d)", p, len(values)))
			if !none {
				continue
			}
		}
		if m := summary(values).Center; m > highest {
			best, highest = p, m
		}
	}
	return best, rounds, lack
}

// share is a policy's part of the best's throughput, round by round; ok is false if no round has both.
func (c *cell) share(policy, best string) (s benchmath.Summary, ok bool) {
	var ratios []float64
	for round, v := range c.values[policy] {
		if b, ok := c.values[best][round]; ok {
			ratios = append(ratios, v/b)
		}
	}
	if len(ratios) == 0 {
		return s, false
	}
	return summary(ratios), true
}

// summary is the median and its 95 % confidence interval.
func summary(values []float64) benchmath.Summary {
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(values, &benchmath.DefaultThresholds), 0.95)
}

// markdown is the table in Markdown.
func (t *table) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %% of the best | %s | best | rounds | with fewer |\n|---|%s---|--:|---|\n", strings.Join(t.policies, " | "), strings.Repeat("--:|", len(t.policies)))
	for _, c := range t.cells {
		best, rounds, lack := c.best(t.policies)
		fmt.Fprintf(&b, "| %s |", strings.ReplaceAll(c.name, "|", `\|`))
		for _, p := range t.policies {
			fmt.Fprintf(&b, " %s |", c.text(p, best))
		}
		fmt.Fprintf(&b, " %s | %d | %s |\n", best, rounds, cmp.Or(strings.Join(lack, ", "), "-"))
	}
	return b.String()
}

func (c *cell) text(policy, best string) string {
	s, ok := c.share(policy, best)
	switch {
	case !ok:
		return "-"
	case policy == best:
		return "100"
	}
	half := max(s.Center-s.Lo, s.Hi-s.Center)
	if math.IsInf(half, 0) || math.IsNaN(half) {
		return fmt.Sprintf("%.1f ± ?", 100*s.Center)
	}
	return fmt.Sprintf("%.1f ± %.1f", 100*s.Center, 100*half)
}
