package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// build makes a graph of lines such as "a -> b c".
func build(lines ...string) graph {
	g := graph{}
	for _, line := range lines {
		from, _, _ := strings.Cut(line, " -> ")
		g[from] = map[string]bool{}
	}
	for _, line := range lines {
		from, tos, _ := strings.Cut(line, " -> ")
		for to := range strings.FieldsSeq(tos) {
			g.add(from, to)
		}
	}
	return g
}

// A knot is found however long the way around is, and nothing else is.
func TestKnots(t *testing.T) {
	for _, tc := range []struct {
		name string
		g    graph
		want []knot
	}{
		{"none", build("a -> b c", "b -> c", "c"), nil},
		{"itself is none", build("a -> a"), nil},
		{"two", build("a -> b", "b -> a", "c -> a"), []knot{{"a", "b"}}},
		{"around corners", build("a -> b", "b -> c", "c -> d", "d -> a", "e -> a", "f"), []knot{{"a", "b", "c", "d"}}},
		{"two knots", build("a -> b", "b -> a c", "c -> d", "d -> c"), []knot{{"c", "d"}, {"a", "b"}}},
	} {
		if diff := cmp.Diff(tc.want, tc.g.knots()); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}

// Each layer needs only those below it.
func TestDraw(t *testing.T) {
	var b strings.Builder
	draw(&b, "it", build("top -> mid low", "mid -> low", "low", "other"))
	want := "it\n  2  top -> low mid\n  1  mid -> low\n  0  low\n  0  other\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
}

// What cannot be read is exit status 2.
func TestUnreadable(t *testing.T) {
	var out, errs strings.Builder
	for _, args := range [][]string{{"-chek"}, {"-check", "./nowhere"}} {
		if code := run(args, &out, &errs); code != exitFailed {
			t.Errorf("%v: exit %d: %s%s", args, code, out.String(), errs.String())
		}
	}
}
