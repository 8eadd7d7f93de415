package duel

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readbench/suite/internal/duel/dueltest"
)

// written is a list of plans as a test writes it: title: label (row of spec) …
func written(plans []Plan) (lines []string) {
	for _, p := range plans {
		var who []string
		for _, e := range p.Entrants {
			who = append(who, e.Label)
		}
		lines = append(lines, p.Title+": "+strings.Join(who, " | "))
	}
	return lines
}

// Which rows belong together, and what contestants are called.
func TestPair(t *testing.T) {
	one := Spec{Name: "./readbench/random"}
	vary := func(value string) Spec { return Spec{Name: "./readbench/random", Vary: value} }
	for _, tc := range []struct {
		name  string
		specs []Spec
		rows  [][]string
		plans []string
		alone []string
		err   string
	}{
		{"two functions", []Spec{one, one}, [][]string{
			{"BenchmarkPread/case=hot/threads=1", "BenchmarkPread/case=cold/threads=1"},
			{"BenchmarkReadAt/case=cold/threads=1", "BenchmarkReadAt/case=hot/threads=1", "BenchmarkReadAt/case=hot/threads=8"},
		}, []string{"case=hot/threads=1: Pread | ReadAt", "case=cold/threads=1: Pread | ReadAt"},
			[]string{"BenchmarkReadAt/case=hot/threads=8 of ./readbench/random"}, ""},
		{"a function against itself", []Spec{one, one}, [][]string{{"BenchmarkPread/case=hot"}, {"BenchmarkPread/case=hot"}},
			[]string{"Pread/case=hot: Pread#1 | Pread#2"}, nil, ""},
		{"binaries", []Spec{{Name: "base/x.test"}, {Name: "/tmp/head.test"}}, [][]string{
			{"BenchmarkA/case=hot/policy=none/threads=1", "BenchmarkA/case=hot/policy=always/threads=1", "BenchmarkOld/case=hot/threads=1"},
			{"BenchmarkA/case=hot/policy=always/threads=1", "BenchmarkA/case=hot/policy=none/threads=1"},
		}, []string{"A/policy=none/case=hot/threads=1: x.test | head.test", "A/policy=always/case=hot/threads=1: x.test | head.test"},
			[]string{"BenchmarkOld/case=hot/threads=1 of base/x.test"}, ""},
		{"binaries of one name", []Spec{{Name: "base/x.test"}, {Name: "head/x.test"}}, [][]string{{"BenchmarkA"}, {"BenchmarkA"}},
			[]string{"A: base/x.test | head/x.test"}, nil, ""},
		{"policies of two functions", []Spec{vary("READBENCH_POLICIES=none"), vary("READBENCH_POLICIES=always")}, [][]string{
			{"BenchmarkM/case=hot/policy=none", "BenchmarkR/case=hot/policy=none"}, {"BenchmarkM/case=hot/policy=always", "BenchmarkR/case=hot/policy=always"},
		}, []string{"M/case=hot: none | always", "R/case=hot: none | always"}, nil, ""},
		{"three values that no row shows", []Spec{vary("READBENCH_HINT=a"), vary("READBENCH_HINT=b"), vary("READBENCH_HINT=c")}, [][]string{{"BenchmarkA"}, {"BenchmarkA"}, {"BenchmarkA"}},
			[]string{"A: HINT=a | HINT=b | HINT=c"}, nil, ""},
		{"functions with labels of their own", []Spec{one, one}, [][]string{{"BenchmarkUring/case=hot/engine=own"}, {"BenchmarkMmapPrefetch/case=hot/policy=always"}},
			[]string{"case=hot: Uring engine=own | MmapPrefetch policy=always"}, nil, ""},
		{"labels tell which of two", []Spec{one, one}, [][]string{
			{"BenchmarkA/case=hot/policy=none", "BenchmarkA/case=hot/policy=always"}, {"BenchmarkB/case=hot/policy=always", "BenchmarkB/case=hot/policy=none"},
		}, []string{"policy=none/case=hot: A | B", "policy=always/case=hot: A | B"}, nil, ""},
		{"nothing tells which", []Spec{one, one}, [][]string{{"BenchmarkA/case=hot", "BenchmarkB/case=hot"}, {"BenchmarkC/case=hot"}}, nil, nil,
			"nothing says which rows of case=hot belong together: BenchmarkA/case=hot of ./readbench/random, BenchmarkB"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			plans, alone, err := Pair(tc.specs, tc.rows)
			if tc.err != "" {
				if err == nil || !strings.Contains(err.Error(), tc.err) {
					t.Errorf("error %v, want %s", err, tc.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.plans, written(plans)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.alone, alone); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// All rows of a cell race, but for the harness.
func TestGather(t *testing.T) {
	plans, alone := Gather([]Spec{{Name: "x.test"}}, [][]string{{
		"BenchmarkNull/case=hot/threads=1", "BenchmarkPread/case=hot/threads=1", "BenchmarkPread/case=cold/threads=1", "BenchmarkUring/case=hot/engine=own/threads=1",
		"BenchmarkUring/case=hot/engine=other/threads=1",
	}})
	if diff := cmp.Diff([]string{"case=hot/threads=1: Pread | Uring engine=own | Uring engine=other"}, written(plans)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"BenchmarkPread/case=cold/threads=1 of x.test"}, alone); diff != "" {
		t.Error(diff)
	}
}

// What a contestant offers, and what is wrong with one that offers nothing.
func TestList(t *testing.T) {
	rows := fakeRows{{Name: "BenchmarkA/case=hot"}, {Name: "BenchmarkA/case=cold"}, {Name: "BenchmarkB/case=a(b)"}, {Name: "BenchmarkBB/case=a(b)"}}
	for _, tc := range []struct {
		name, bench string
		mode        dueltest.Mode
		want, err   string
	}{
		{"all", ".", "", "BenchmarkA/case=hot BenchmarkA/case=cold BenchmarkB/case=a(b) BenchmarkBB/case=a(b)", ""},
		{"one function", "A$", "", "BenchmarkA/case=hot BenchmarkA/case=cold", ""},
		{"one row", only("BenchmarkB/case=a(b)"), "", "BenchmarkB/case=a(b)", ""},
		{"none", "Z", "", "", `x.test: no row matches -bench "Z", or it is no test binary of readbench that takes turns; its output ends with:` + "\n\tgoos: fake"},
		{"another version", ".", dueltest.WrongVersion, "", "x.test: it speaks version 2 of the protocol"},
		{"no regular expression", "(", "", "", "x.test: exit status 2; its output ends with:\n\tpanic: regexp"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			mine := append(fakeRows{}, rows...)
			mine[0].Mode = tc.mode
			s, f := specOf(t, "x.test", tc.bench, mine...)
			got, err := List(t.Context(), s, 10*time.Second)
			if strings.Join(got, " ") != tc.want || (err == nil) != (tc.err == "") || !strings.HasPrefix(fmt.Sprint(err), tc.err) && tc.err != "" {
				t.Errorf("%q, error %v; want %q, %s", got, err, tc.want, tc.err)
			}
			if left := f.Living(t); left != nil {
				t.Errorf("processes %d are left", left)
			}
		})
	}
	if _, err := List(t.Context(), Spec{Binary: "/nowhere/x.test", Name: "x.test"}, time.Second); err == nil || !strings.Contains(err.Error(), "starting x.test") {
		t.Error(err)
	}
}
