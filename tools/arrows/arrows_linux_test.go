package main

import (
	"flag"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const module = "github.com/readbench/suite/"

var suite = sync.OnceValues(func() ([]pkg, error) { return load([]string{module + "..."}) })

func packages(t *testing.T) []pkg {
	t.Helper()
	pkgs, err := suite()
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 40 {
		t.Fatalf("only %d packages", len(pkgs))
	}
	return pkgs
}

// No two files of a package need each other, directly or around a corner.
func TestFilesStandInLayers(t *testing.T) {
	var b strings.Builder
	if printKnots(&b, packages(t)) != exitOK {
		t.Error(b.String())
	}
}

// measuring is the side that a plug-in must not be able to touch.
var measuring = []string{
	"readbench", "internal/cases", "internal/draw", "internal/shape", "internal/result", "internal/files", "internal/evidence", "internal/pressure",
	"internal/hostinfo", "internal/blockdev", "internal/pagecache", "internal/memlimit", "internal/memhog",
}

// Who may import whom, beyond what the compiler demands.
func TestRooms(t *testing.T) {
	arrows := importArrows(packages(t))
	for _, rule := range []struct {
		name string
		from string // a pattern of path.Match
		bad  func(to string) bool
	}{
		{"the contract stands at the bottom", "readbench/strategy", func(to string) bool { return to != "internal/refusal" }},
		{"built-in strategies are plug-ins", "readbench/strategies", func(to string) bool { return slices.Contains(measuring, to) }},
		{"policies know nothing of measuring", "readbench/prefetch", func(to string) bool { return slices.Contains(measuring, to) || to == "readbench/strategies" }},
		{"configuration knows names and values only", "readbench/config", func(to string) bool { return to != "internal/datafile" }},
		{"the runner names no strategy", "readbench", func(to string) bool { return to == "readbench/strategies" || to == "readbench/prefetch" }},
		{"what is internal knows neither the runner nor a strategy", "internal/*", func(to string) bool {
			return to == "readbench" || to == "readbench/strategies" || to == "readbench/prefetch"
		}},
		{"tools do without the runner", "tools/*", func(to string) bool { return to == "readbench" || to == "internal/cases" }},
		{"nobody imports tools or the conformance test", "*/*", func(to string) bool { return strings.HasPrefix(to, "tools/") || to == "readbench/readtest" }},
		{"no workload needs another", "readbench/*", func(to string) bool {
			return slices.Contains([]string{"readbench/random", "readbench/sequential", "readbench/prefetchmicro", "readbench/storedfields", "readbench/rerank"}, to)
		}},
	} {
		met := false
		for from := range arrows {
			if ok, err := path.Match(rule.from, from); err != nil {
				t.Fatal(err)
			} else if !ok {
				continue
			}
			met = true
			for _, to := range arrows.of(from) {
				if rule.bad(to) {
					t.Errorf("%s: %s imports %s", rule.name, from, to)
				}
			}
		}
		if !met {
			t.Errorf("%s: there is no package %s", rule.name, rule.from)
		}
	}
}

// Built-in strategies are named by workloads (and by tests, which are not drawn), and by nobody else.
func TestWhoNamesStrategies(t *testing.T) {
	var got []string
	arrows := importArrows(packages(t))
	for from := range arrows {
		if arrows[from]["readbench/strategies"] {
			got = append(got, from)
		}
	}
	slices.Sort(got)
	want := []string{"readbench/prefetchmicro", "readbench/random", "readbench/rerank", "readbench/sequential", "readbench/storedfields"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// drawn are the packages whose files docs/architecture.md shows.
var drawn = []string{"readbench", "internal/cases", "internal/draw", "internal/result", "internal/files", "readbench/strategy", "readbench/strategies"}

var update = flag.Bool("update", false, "rewrite the drawing in docs/architecture.md")

// The drawing in docs/architecture.md is that of the code.
func TestDrawing(t *testing.T) {
	const (
		file       = "../../docs/architecture.md"
		begin, end = "<!-- arrows -->\n```\n", "```\n<!-- end of arrows -->"
	)
	pkgs := packages(t)
	var want strings.Builder
	draw(&want, "packages", importArrows(pkgs))
	for _, name := range drawn {
		i := slices.IndexFunc(pkgs, func(p pkg) bool { return p.name == name || p.name == strings.TrimSuffix(module, "/")+"/"+name })
		if i < 0 {
			t.Fatalf("there is no package %s", name)
		}
		draw(&want, "files of "+name, pkgs[i].files)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), begin)
	old, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no drawing between %q and %q", file, begin, end)
	}
	if old == want.String() {
		return
	}
	if !*update {
		t.Fatalf("%s: the drawing differs from the code (go test ./tools/arrows -run Drawing -update):\n%s", file, cmp.Diff(old, want.String()))
	}
	if err := os.WriteFile(file, []byte(head+begin+want.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
