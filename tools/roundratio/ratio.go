package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// A file is its rows that have the unit, in the order in which they were first seen.
type file struct {
	name string // without directory and extension
	rows []*row
}

// A row is what was measured under one name: never empty.
type row struct {
	name   string
	rounds []string
	values map[string]float64 // by round
}

func readFile(path, unit string) (*file, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return read(f, path, unit)
}

func read(r io.Reader, path, unit string) (*file, error) {
	f := &file{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	rows := map[string]*row{}
	in := benchfmt.NewReader(r, path)
	for in.Scan() {
		rec, ok := in.Result().(*benchfmt.Result)
		if !ok {
			if err, ok := in.Result().(*benchfmt.SyntaxError); ok {
				return nil, err
			}
			continue
		}
		_, line := rec.Pos()
		name, round := string(rec.Name), rec.GetConfig("round")
		v, ok := rec.Value(unit)
		switch {
		case !ok:
			continue
		case round == "":
			return nil, fmt.Errorf("%s:%d: no line \"round: NAME\" stands above it", path, line)
		case !(v > 0):
			return nil, fmt.Errorf("%s:%d: %g %s: only what is above 0 can be divided", path, line, v, unit)
		}
		if rows[name] == nil {
			rows[name] = &row{name: name, values: map[string]float64{}}
			f.rows = append(f.rows, rows[name])
		}
		if _, twice := rows[name].values[round]; twice {
			return nil, fmt.Errorf("%s:%d: %s was measured twice in round %s", path, line, name, round)
		}
		rows[name].rounds = append(rows[name].rounds, round)
		rows[name].values[round] = v
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(f.rows) == 0 {
		return nil, fmt.Errorf("%s: no row has %s", path, unit)
	}
	return f, nil
}

func (r *row) median() float64 {
	var vs []float64
	for _, v := range r.values {
		vs = append(vs, v)
	}
	return median(vs)
}

// best is the n rows with the highest medians, the highest first; fewer, if there are not so many.
func (f *file) best(n int) []*row {
	sorted := slices.Clone(f.rows)
	slices.SortStableFunc(sorted, func(a, b *row) int { return cmp.Compare(b.median(), a.median()) })
	return sorted[:min(n, len(sorted))]
}

// against is a row that another is divided by, and the name of its file.
type against struct {
	row  *row
	file string
}

func bestOf(files []*file) against {
	var best against
	for _, f := range files {
		if r := f.best(1)[0]; best.row == nil || r.median() > best.row.median() {
			best = against{r, f.name}
		}
	}
	return best
}

// A ratio is a row divided by another.
type ratio struct {
	ours                      *row
	theirs                    string  // file, and row if its name is not the same
	median, theirMedian       float64 // of all rounds
	ofRounds, least, greatest float64 // of the ratios of the rounds that both have
	rounds                    int     // how many these are
}

func divide(ours *row, theirs against) ratio {
	r := ratio{ours: ours, theirs: theirs.file, median: ours.median(), theirMedian: theirs.row.median()}
	if ours.name != theirs.row.name {
		r.theirs += " " + theirs.row.name
	}
	var each []float64
	for _, round := range ours.rounds {
		if v, ok := theirs.row.values[round]; ok {
			each = append(each, ours.values[round]/v)
		}
	}
	if r.rounds = len(each); r.rounds > 0 {
		r.ofRounds, r.least, r.greatest = median(each), slices.Min(each), slices.Max(each)
	}
	return r
}

// divideAll divides each row of ours by those of the same name that have a round in common with it.
func divideAll(ours *file, theirs []*file) (ratios []ratio) {
	for _, o := range ours.rows {
		for _, f := range theirs {
			for _, t := range f.rows {
				if t.name != o.name {
					continue
				}
				if r := divide(o, against{t, f.name}); r.rounds > 0 {
					ratios = append(ratios, r)
				}
			}
		}
	}
	return ratios
}

// median is that of at least one value; it sorts them.
func median(vs []float64) float64 {
	slices.Sort(vs)
	n := len(vs)
	return (vs[(n-1)/2] + vs[n/2]) / 2
}
