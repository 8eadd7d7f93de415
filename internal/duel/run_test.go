package duel

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/readbench/suite/internal/duel/dueltest"
)

func TestMain(m *testing.M) {
	dueltest.Main()
	grace = time.Second
	goleak.VerifyTestMain(m)
}

type (
	fakeRow  = dueltest.Row
	fakeRows = []dueltest.Row
)

// specOf is a spec whose binary is this one, as a fake with some rows.
func specOf(t *testing.T, name, bench string, rows ...fakeRow) (Spec, dueltest.Fake) {
	t.Helper()
	f := dueltest.Fake{Rows: rows, Dir: t.TempDir()}
	return Spec{Binary: os.Args[0], Name: name, Bench: bench, Env: f.Environ()}, f
}

var options = Options{Alpha: 0.05, Resolve: 0.01, Budget: 4 * time.Second, Turn: 5 * time.Millisecond, Patience: 20 * time.Second, Slack: 20 * time.Second}

// fight lets two rows of a fake fight.
func fight(t *testing.T, o Options, a, b fakeRow) (*Result, string) {
	t.Helper()
	a.Name, b.Name = "BenchmarkA/case=hot/threads=2", "BenchmarkB/case=hot/threads=2"
	return hold(t, o, false, a, b)
}

// hold lets rows fight or race, and looks whether any process is left.
func hold(t *testing.T, o Options, race bool, rows ...fakeRow) (*Result, string) {
	t.Helper()
	s, f := specOf(t, "fake.test", ".", rows...)
	var entrants []Entrant
	for _, row := range rows {
		entrants = append(entrants, Entrant{Spec: s, Row: row.Name})
	}
	r, err := Run(t.Context(), newPlan(entrants, race), o)
	if left := f.Living(t); left != nil {
		t.Errorf("processes %d are left", left)
	}
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.Words(&b); err != nil {
		t.Fatal(err)
	}
	return r, b.String()
}

// What is said of contestants that differ, and of those that do not.
func TestOutcomes(t *testing.T) {
	equal := fakeRow{Factor: 1}
	short := options
	short.Budget, short.Resolve = 50*time.Millisecond, 0
	for _, tc := range []struct {
		name    string
		options Options
		a, b    fakeRow
		outcome string
		words   string // regular expression
	}{
		{"2 % slower", options, equal, fakeRow{Factor: 0.98}, "faster", `^case=hot/threads=2: A is 1\.0\d\d× B \(1\.0\d* to 1\.0\d\d\), decided in \d\.\d s\n$`},
		{"5 % faster", options, equal, fakeRow{Factor: 1.05}, "slower", `^case=hot/threads=2: B is 1\.\d\d\d× A \(1\.\d* to 1\.\d\d\d\), decided in \d\.\d s\n$`},
		{"equal", options, equal, equal, "same", `: no difference larger than (0\.\d+|1) % between A and B, decided in \d\.\d s\n$`},
		{"equal, too short to resolve", short, equal, equal, "undecided", `: not decided: (A is within ± [\d.]+ % of B|too few rounds of A and B to say anything) after 0\.\d s\n$`},
		{"no op at all", options, fakeRow{Factor: 0}, equal, "failed", `A: it does no op in 3 turns of [\d.]+s\n$`},
		{"rare stalls", options, equal, fakeRow{Factor: 0.97, Mode: dueltest.Stalls}, "faster", `(?s)A is 1.0.*in total A did 1\.\d+× the ops per time of B, which lies outside of the interval: rare stalls differ`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, words := fight(t, tc.options, tc.a, tc.b)
			if r.Outcome != tc.outcome || !regexp.MustCompile(tc.words).MatchString(words) {
				t.Errorf("%s, want %s: %q does not match %q", r.Outcome, tc.outcome, words, tc.words)
			}
		})
	}
}

// Contestants that fail, and what is said of it. None leaves a process.
func TestFaults(t *testing.T) {
	hasty := options
	hasty.Slack = 300 * time.Millisecond
	hastySetup := options
	hastySetup.Patience = time.Second
	for _, tc := range []struct {
		options Options
		mode    dueltest.Mode
		words   string // regular expression for what is said of B
	}{
		{options, dueltest.Skip, `: skipped\n  skipped: B: io_uring is switched off\n$`},
		{options, dueltest.FailSetup, `: failed: no verdict\n  failed: B: 12 % of the file are resident\n$`},
		{options, dueltest.FailEnd, `failed: B: the device delivered 5 GB\n$`},
		{hastySetup, dueltest.HangSetup, `failed: B: it hangs: no message .*"ready".* within 1s; it was killed; its output ends with:\n.*goos: fake\n$`},
		{hasty, dueltest.HangTurn, `failed: B: it hangs: no message .*"done".* within 305ms; it was killed`},
		{options, dueltest.DieTurn, `failed: B: it ended in the middle of the duel \(exit status 3\); its output ends with:\n.*panic: the ring broke\n$`},
		{options, dueltest.KilledTurn, `failed: B: it ended in the middle of the duel \(signal: killed\)`},
		{options, dueltest.Rubbish, `failed: B: it does not keep to the protocol of a duel: .*BenchmarkPread 100.* is no message of a duel.*; it was killed`},
		{options, dueltest.WrongKind, `failed: B: it does not keep to the protocol of a duel: a message "dropped" where .* was expected`},
		{options, dueltest.Negative, `failed: B: it does not keep to the protocol of a duel: a turn cannot have the result &?{Ops:1 Rate:-1 Nanos:1}\n$`},
		{options, dueltest.WrongVersion, `failed: B: it speaks version 2 of the protocol of a duel, and not 1`},
		{options, dueltest.Vanished, `failed: B: it ended in the middle of the duel \(exit status 0\)`},
	} {
		t.Run(string(tc.mode), func(t *testing.T) {
			t.Parallel()
			r, words := fight(t, tc.options, fakeRow{Factor: 1}, fakeRow{Factor: 1, Mode: tc.mode})
			if !regexp.MustCompile(tc.words).MatchString(words) || r.Ratios != nil {
				t.Errorf("%q does not match %q, ratios %v", words, tc.words, r.Ratios)
			}
			if r.Failed() != (tc.mode != dueltest.Skip) {
				t.Errorf("failed: %t", r.Failed())
			}
		})
	}
	t.Run("who dies while another one evicts is the one at fault", func(t *testing.T) {
		t.Parallel()
		_, words := fight(t, options, fakeRow{Factor: 1, Mode: dueltest.DieOnDrop}, fakeRow{Factor: 1, Mode: dueltest.Evicts})
		if !strings.Contains(words, "failed: A: it ended in the middle of the duel (exit status 4)") {
			t.Error(words)
		}
	})
}

// Who is ready drops its pages and renews them for each eviction of another one, in set-up and in turns; the first makes the file resident.
func TestEvictions(t *testing.T) {
	r, words := fight(t, options, fakeRow{Factor: 1, Mode: dueltest.Evicts}, fakeRow{Factor: 0.9, Mode: dueltest.Evicts})
	if r.Outcome != "faster" {
		t.Fatal(words)
	}
	inTurns := float64((r.Rounds + warmups) / 3)
	for i, want := range []map[string]float64{
		{"drops": 1 + inTurns, "renews": 1 + inTurns, "index": 0, "of": 2, "warm": 0}, // B's set-up
		{"drops": inTurns, "renews": inTurns, "index": 1, "of": 2, "warm": 1},         // when A was set up, B was not ready
	} {
		for key, value := range want {
			if got := r.Contestants[i].Metrics[key]; got != value {
				t.Errorf("%s: %s is %v, want %v", r.Contestants[i].Label, key, got, value)
			}
		}
	}
}

// Different files or settings are refused; what was varied may differ.
func TestRefused(t *testing.T) {
	config := func(hint string) map[string]string { return map[string]string{"hint": hint, "seed": "1"} }
	for _, tc := range []struct {
		name  string
		vary  [2]string
		b     fakeRow
		words string // "": no refusal
	}{
		{"size", [2]string{}, fakeRow{Size: 7, Config: config("fadvise")}, "it cannot be compared with A: its size in bytes is 7, and not 0\n"},
		{"setting", [2]string{}, fakeRow{Config: config("madvise")}, "it cannot be compared with A: hint is madvise, and not fadvise\n"},
		{"setting that one has not", [2]string{}, fakeRow{Config: map[string]string{"hint": "fadvise"}}, "seed is , and not 1\n"},
		{"setting that is varied", [2]string{"READBENCH_HINT=fadvise", "READBENCH_HINT=madvise"}, fakeRow{Config: config("madvise")}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			a, b := fakeRow{Name: "BenchmarkA", Factor: 1, Config: config("fadvise")}, tc.b
			b.Name, b.Factor = "BenchmarkB", 0.8
			s, _ := specOf(t, "fake.test", ".", a, b)
			plan := newPlan([]Entrant{{Spec: s, Row: a.Name}, {Spec: s, Row: b.Name}}, false)
			for i := range plan.Entrants {
				plan.Entrants[i].Spec.Vary = tc.vary[i]
			}
			r, err := Run(t.Context(), plan, options)
			if err != nil {
				t.Fatal(err)
			}
			if tc.words == "" {
				if _, common := r.Config["hint"]; r.Outcome != "faster" || common || r.Config["seed"] != "1" {
					t.Errorf("%+v", r)
				}
				return
			}
			if len(r.Absent) != 1 || !strings.Contains(r.Absent[0].Cause+"\n", tc.words) {
				t.Errorf("%+v, want %q", r.Absent, tc.words)
			}
		})
	}
}

// In a race who is slower drops out, who cannot be set up is left out, and who fails later has the others race anew.
func TestRace(t *testing.T) {
	row := func(name string, factor float64, mode dueltest.Mode) fakeRow {
		return fakeRow{Name: "Benchmark" + name + "/case=hot/threads=2", Factor: factor, Mode: mode}
	}
	for _, tc := range []struct {
		name    string
		rows    fakeRows
		outcome string
		order   []string
		failed  bool
		words   []string
	}{
		{"one is fastest", fakeRows{row("Slow", 0.5, ""), row("Best", 1, ""), row("Next", 0.9, dueltest.Evicts)}, "faster", []string{"Best", "Next", "Slow"}, false,
			[]string{"case=hot/threads=2: Best is the fastest, 1.", "decided in", "\n  1      Best        1.000×"}},
		{"a tie", fakeRows{row("One", 1, ""), row("Slow", 0.5, ""), row("Two", 1, "")}, "same", []string{"", "", "Slow"}, false,
			[]string{"a tie: no difference larger than", "  1 to 2  ", "  tie\n", "\n  3       Slow"}},
		{"some are left out", fakeRows{row("Off", 1, dueltest.Skip), row("Best", 1, ""), row("Bad", 1, dueltest.FailSetup), row("Slow", 0.5, "")}, "faster", []string{"Best", "Slow"}, true,
			[]string{"  skipped: Off: io_uring is switched off\n", "  failed: Bad: 12 % of the file are resident\n"}},
		{"one dies", fakeRows{row("Off", 1, dueltest.Skip), row("Bad", 1, dueltest.DieTurn), row("Best", 1, ""), row("Next", 0.99, "")}, "faster", []string{"Best", "Next"}, true,
			[]string{"  failed: Bad: it ended in the middle"}},
		{"one is left", fakeRows{row("Off", 1, dueltest.Skip), row("Best", 1, "")}, "skipped", nil, false, []string{"threads=2: skipped\n  skipped: Off"}},
		{"one is left after a fault", fakeRows{row("Bad", 1, dueltest.KilledTurn), row("Best", 1, "")}, "failed", nil, true, []string{"threads=2: failed: no verdict\n  failed: Bad"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, words := hold(t, options, true, tc.rows...)
			if r.Outcome != tc.outcome || len(r.Ratios) != len(tc.order) || r.Failed() != tc.failed {
				t.Errorf("%s, want %s; failed %t:\n%s", r.Outcome, tc.outcome, r.Failed(), words)
			}
			for i := range r.Ratios {
				if tc.order[i] != "" && r.Ratios[i].Label != tc.order[i] {
					t.Errorf("place %d: %s, want %s", i+1, r.Ratios[i].Label, tc.order[i])
				}
			}
			for _, part := range tc.words {
				if !strings.Contains(words, part) {
					t.Errorf("there is no %q in\n%s", part, words)
				}
			}
			for _, part := range []string{"Off", "Bad"} {
				if strings.Count(words, part) > 1 {
					t.Errorf("%s is there twice:\n%s", part, words)
				}
			}
		})
	}
}

// A turn is so long that a worker of the slowest contestant does some ops.
func TestLengthOfTurns(t *testing.T) {
	for _, tc := range []struct {
		name      string
		op        time.Duration
		low, high float64 // seconds
	}{
		{"short ops", 10 * time.Microsecond, 0.005, 0.005},
		{"long ops", 20 * time.Millisecond, 0.080 * 0.5, 0.080 * 4}, // the disk has its swings
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, words := fight(t, options, fakeRow{Factor: 1}, fakeRow{Factor: 1, Nanos: int64(tc.op), Mode: ""})
			if r.Turn < tc.low || r.Turn > tc.high {
				t.Errorf("%v s:\n%s", r.Turn, words)
			}
		})
	}
}

// An interrupt ends a duel, and all processes, be they deaf or in set-up.
func TestInterrupt(t *testing.T) {
	for _, mode := range []dueltest.Mode{"", dueltest.HangSetup, dueltest.HangTurn, dueltest.Deaf} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			o := options
			o.Budget, o.Resolve = time.Hour, 0
			s, f := specOf(t, "fake.test", ".", fakeRow{Name: "BenchmarkA", Factor: 1}, fakeRow{Name: "BenchmarkB", Factor: 1, Mode: mode})
			ctx, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
			defer cancel()
			if r, err := Run(ctx, newPlan([]Entrant{{Spec: s, Row: "BenchmarkA"}, {Spec: s, Row: "BenchmarkB"}}, false), o); err == nil || ctx.Err() == nil {
				t.Errorf("%+v, error %v", r, err)
			}
			if left := f.Living(t); left != nil {
				t.Errorf("processes %d are left", left)
			}
		})
	}
}
