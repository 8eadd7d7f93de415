package duel

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"

	"github.com/readbench/suite/internal/anytime"
	"github.com/readbench/suite/internal/turns"
)

var update = flag.Bool("update", false, "rewrite testdata")

// played is a match whose turns had rates as they are given, in thousands of ops a second; −1: it was out.
func played(t *testing.T, race bool, labels []string, rounds int, rates func(round, player int) float64) *Result {
	t.Helper()
	r := &Result{Title: "case=hot/threads=2", Race: race}
	o := options
	o.Alpha = 0.025
	m := &match{table: &table{}, options: o, length: 5e6, spent: 1.94e9}
	for _, label := range labels {
		shape := &turns.Shape{Case: "hot", Threads: 2, Config: map[string]string{"kernel": "6.18", "of": label}}
		m.players = append(m.players, &player{Entrant: Entrant{Label: label, Row: "Benchmark" + label, Spec: Spec{Name: "x.test"}}, shape: shape, metrics: map[string]float64{"dev-B/op": 4096}})
	}
	var err error
	if m.race, err = anytime.NewRace(len(labels), o.Alpha, o.Resolve); err != nil {
		t.Fatal(err)
	}
	for round := 0; round < rounds && !m.race.Done(); round++ {
		results, values := make([]turns.Result, len(labels)), make([]float64, len(labels))
		for i := range labels {
			if m.race.Out(i) {
				results[i].Rate = -1
				continue
			}
			k := rates(round, i)
			results[i] = turns.Result{Ops: int(k * 5), Rate: k * 1000, Nanos: 10e6}
			values[i] = k * 1000
		}
		m.rounds = append(m.rounds, results)
		if err := m.race.Add(values); err != nil {
			t.Fatal(err)
		}
	}
	m.report(r)
	return r
}

// noisy is 1 with some noise, the same in each test.
func noisy(round, i int) float64 {
	return math.Exp(0.05 * rand.New(rand.NewPCG(uint64(round), uint64(i))).NormFloat64())
}

func results(t *testing.T) map[string]*Result {
	half := func(round, i int) float64 { return 200 * noisy(round, i) / float64(1+i) }
	equal := func(round, i int) float64 { return 200 * noisy(round, i) }
	pair := []string{"Pread", "Uring-8 engine=own"}
	failed := &Result{Title: "case=cold/threads=2", Absent: []Absent{{"Pread", false, "the device delivered\nmore"}}}
	failed.giveUp()
	return map[string]*Result{
		"faster":        played(t, false, pair, 20, half),
		"slower":        played(t, false, pair, 20, func(round, i int) float64 { return half(round, 1-i) }),
		"same":          played(t, false, pair, 3000, equal),
		"undecided":     played(t, false, pair, 100, equal),
		"nothing known": played(t, false, pair, 2, half),
		"void":          played(t, false, pair, 3, func(round, _ int) float64 { return float64(round % 2) }),
		"one idle":      played(t, false, pair, 60, func(_, i int) float64 { return float64(i) }),
		"contradiction": {Title: "case=hot/threads=2", Outcome: "contradiction", Ratios: []Ratio{{Label: "Pread", To: "Mmap"}}, Rounds: 100, Seconds: 2},
		"race":          played(t, true, []string{"Pread", "Mmap", "Uring"}, 60, half),
		"tie":           played(t, true, []string{"Pread", "Mmap", "Uring"}, 3000, equal),
		"open":          played(t, true, []string{"Pread", "Mmap", "Uring"}, 30, equal),
		"circle":        {Title: "case=hot/threads=2", Race: true, Outcome: "contradiction", Seconds: 2},
		"no duel":       failed,
	}
}

// Each outcome in words, in JSON, and all of them as a table.
func TestFormats(t *testing.T) {
	all := results(t)
	for name, r := range all {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := r.Words(&b); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".txt", b.Bytes())
			if _, err := json.Marshal(r); err != nil {
				t.Error(err)
			}
		})
	}
	var b bytes.Buffer
	if err := Table(&b, []*Result{all["faster"], all["slower"], all["same"], all["undecided"], all["nothing known"], all["contradiction"], all["race"], all["no duel"]}); err != nil {
		t.Fatal(err)
	}
	golden(t, "table.txt", b.Bytes())
	for name, r := range map[string]*Result{"pair": all["faster"], "race": all["race"], "absent": all["no duel"]} {
		text, err := json.MarshalIndent(r, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, name+".json", text)
	}
}

// Samples can be read by benchstat's parser, in pairs.
func TestSamples(t *testing.T) {
	all := results(t)
	for _, name := range []string{"nothing known", "void", "race"} {
		var b bytes.Buffer
		if err := all[name].Samples(&b); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".bench", b.Bytes())
		reader, n := benchfmt.NewReader(&b, name), 0
		for reader.Scan() {
			r, ok := reader.Result().(*benchfmt.Result)
			if !ok {
				t.Fatalf("%v", reader.Result())
			}
			if _, parts := r.Name.Parts(); len(parts) != 3 || r.GetConfig("kernel") != "6.18" || r.GetConfig("of") != "" {
				t.Errorf("%s: %v", r.Name, r.Config)
			}
			n++
		}
		if n == 0 || reader.Err() != nil {
			t.Errorf("%d lines, %v", n, reader.Err())
		}
	}
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-update rewrites it):\n%s", path, diff)
	}
}
