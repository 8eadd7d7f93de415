package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Seven rounds: between them everything drifts by up to 4 times, and the shares do not. In the fourth, one row is
// missing, which leaves the pairs of the others alone; a cell with two rounds has no interval.
func TestRecordedRounds(t *testing.T) {
	rounds, err := filepath.Glob("testdata/round-*.txt")
	if err != nil || len(rounds) != 7 {
		t.Fatal(rounds, err)
	}
	var stdout, stderr bytes.Buffer
	if code := run(rounds, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
		t.Fatalf("exit %d: %s", code, &stderr)
	}
	want, err := os.ReadFile("testdata/table.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), stdout.String()); diff != "" {
		t.Error(diff)
	}
}

func line(policy string, rate any) string {
	return fmt.Sprintf("BenchmarkX/case=hot/policy=%s/threads=1 \t 10 \t 5 ns/op \t %v ops/ms\n", policy, rate)
}

func TestRun(t *testing.T) {
	const head = "| % of the best |"
	for _, tc := range []struct {
		name   string
		rounds []string
		code   int
		stdout string // part of it
		stderr string
	}{
		{"the best is by the median, not the mean", []string{
			line("a", 1) + line("b", 2), line("a", 1) + line("b", 2), line("a", 100) + line("b", 2)}, exitOK, "| 50.0 ± ? | 100 | b | 3 | - |", ""},
		{"ratios are of one round", []string{line("a", 1) + line("b", 2), line("b", 4) + line("a", 2)}, exitOK, "| 50.0 ± ? | 100 | b | 2 | - |", ""},
		{"of equals the first is the best", []string{line("a", 3) + line("b", 3)}, exitOK, "| 100 | 100.0 ± ? | a | 1 | - |", ""},
		{"no round has both", []string{line("a", 1), line("b", 2)}, exitOK, "| - | 100 | b | 2 | a (1), b (1) |", ""},
		{"the best has all rounds", []string{line("a", 1) + line("b", 2), line("a", 1)}, exitOK, "| 100 | 200.0 ± ? | a | 2 | b (1) |", ""},
		{"threads are cells of their own", []string{line("a", 1) + strings.Replace(line("a", 1), "threads=1", "threads=8-2", 1)}, exitOK, "X/case=hot/threads=8 |", ""},
		{"other rows do not count", []string{line("a", 1) + "BenchmarkNull/threads=1 10 5 ns/op 7 ops/ms\nBenchmarkY/policy=z 10 5 ns/op\n"}, exitOK, head + " a | best", ""},
		{"a failure between rows", []string{line("a", 1) + "--- FAIL: BenchmarkX\n    it failed\n" + line("b", 2)}, exitOK, "| 50.0 ± ? | 100 |", ""},
		{"all rounds in one file", []string{line("a", 1) + line("a", 2)}, exitFailed, "", "one.txt:2: row BenchmarkX/case=hot/policy=a/threads=1 is there twice: a file has one round"},
		{"another configuration", []string{"file-size: 1GiB\n" + line("a", 1), "file-size: 2GiB\n" + line("a", 1)}, exitFailed, "", `file-size: "2GiB", rows before it with "1GiB"`},
		{"a line of configuration more", []string{line("a", 1), "policy-always: x\n" + line("a", 1)}, exitFailed, "", `policy-always: "x", rows before it with ""`},
		{"zero", []string{line("a", 0)}, exitFailed, "", "above 0"},
		{"no number", []string{line("a", "NaN")}, exitFailed, "", "above 0"},
		{"a row that failed", []string{line("a", 1) + "BenchmarkX/policy=b \t--- FAIL: BenchmarkX/policy=b\n    row.go:1: it failed\n" + line("b", 2)},
			exitOK, "| 50.0 ± ? | 100 |", "one.txt:2: parsing iteration count: invalid syntax: no result, left out"},
		{"broken lines only", []string{"BenchmarkX/policy=a 10 5\n"}, exitFailed, "", "one.txt:1"},
		{"nothing to compare", []string{"PASS\n"}, exitFailed, "", "none of 1 files has a row with policy=NAME"},
		{"a flag", []string{"-x"}, exitUsage, "", "usage:"},
		{"no files", nil, exitUsage, "", "no files"},
		{"help", []string{"-help"}, exitOK, "", "usage:"},
		{"no such file", []string{"missing.txt"}, exitFailed, "", "missing.txt"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var args []string
			for i, round := range tc.rounds {
				if !strings.HasSuffix(round, "\n") { // an argument as it is
					args = append(args, round)
					continue
				}
				args = append(args, filepath.Join(t.TempDir(), []string{"one.txt", "two.txt", "three.txt"}[i]))
				if err := os.WriteFile(args[i], []byte(round), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var stdout, stderr bytes.Buffer
			code := run(args, &stdout, &stderr)
			if code != tc.code || !strings.Contains(stdout.String(), tc.stdout) || !strings.Contains(stderr.String(), tc.stderr) {
				t.Errorf("exit %d, want %d\n%s%s\nwant %q, %q", code, tc.code, &stdout, &stderr, tc.stdout, tc.stderr)
			}
			if tc.stdout == "" && stdout.Len() > 0 || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("it prints, too:\n%s%s", &stdout, &stderr)
			}
		})
	}
}

// The interval is that of the median of the ratios: with 6 rounds, from the least to the largest.
func TestInterval(t *testing.T) {
	var tab table
	for round, share := range []float64{.90, .91, .92, .93, .94, 1.0} {
		if err := tab.read(strings.NewReader(line("a", share)+line("b", 1)), "round", round); err != nil {
			t.Fatal(err)
		}
	}
	if got := tab.markdown(); !strings.Contains(got, "| 92.5 ± 7.5 | 100 | b | 6 | - |") {
		t.Error(got)
	}
}

// Nothing that a file may hold makes it panic, and what it accepts gives a line for each cell.
func FuzzRead(f *testing.F) {
	f.Add(line("a", 1) + line("b", 2))
	f.Add("Unit ops/ms better=higher\nBenchmarkX/policy=/-8 1 2 ops/ms\n")
	f.Add("BenchmarkX/policy=a|b/policy=c 1 1e308 ops/ms")
	f.Fuzz(func(t *testing.T, text string) {
		var tab table
		if tab.read(strings.NewReader(text), "round", 0) != nil {
			return
		}
		if got := strings.Count(tab.markdown(), "\n"); got != 2+len(tab.cells) {
			t.Errorf("%d lines for %d cells", got, len(tab.cells))
		}
	})
}
