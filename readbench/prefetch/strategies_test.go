package prefetch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
)

// load is a configuration of these settings.
func load(t *testing.T, settings ...string) *readbench.Config {
	t.Helper()
	for i := range settings {
		settings[i] = readbench.EnvPrefix + settings[i]
	}
	c, err := readbench.Load(settings)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a configuration asks for is what runs: by default what package readbench has, else a policy each, all by the
// same calls.
func TestStrategiesOfAConfiguration(t *testing.T) {
	random, normal := prefetch.Strategy{Random: true}, prefetch.Strategy{}
	adaptive, none := prefetch.Strategy{Policy: prefetch.Adaptive(), Random: true}, prefetch.Strategy{Policy: prefetch.None(), Random: true}
	always, mine := prefetch.Strategy{Policy: prefetch.Always(), Random: true}, prefetch.Strategy{Policy: everyOther{}, Random: true}
	fixed := adaptive
	fixed.Probe, fixed.Hint = prefetch.Mincore, prefetch.Madvise
	hinted := always
	hinted.Hint = prefetch.ProcessMadvise
	probed := always
	probed.Probe = prefetch.Cachestat
	for _, tc := range []struct {
		name     string
		mapping  prefetch.Strategy
		settings []string
		own      []prefetch.Policy
		want     []readbench.Strategy
	}{
		{"nothing set", random, nil, nil, []readbench.Strategy{readbench.MmapRandomPrefetch()}},
		{"nothing set, no advice", normal, nil, nil, []readbench.Strategy{readbench.MmapPrefetch()}},
		{"always by name", random, []string{"POLICIES=always"}, nil, []readbench.Strategy{always}},
		{"in the order that was written", random, []string{"POLICIES=adaptive,none"}, nil, []readbench.Strategy{adaptive, none}},
		{"no advice", normal, []string{"POLICIES=loaded"}, nil, []readbench.Strategy{prefetch.Mmap(prefetch.Loaded())}},
		{"calls", random, []string{"POLICIES=adaptive", "PROBE=mincore", "HINT=madvise"}, nil, []readbench.Strategy{fixed}},
		{"a hint alone", random, []string{"HINT=process_madvise"}, nil, []readbench.Strategy{hinted}},
		{"a probe alone", random, []string{"PROBE=cachestat"}, nil, []readbench.Strategy{probed}},
		{"one's own alone", random, nil, []prefetch.Policy{everyOther{}}, []readbench.Strategy{mine}},
		{"one's own beside others", random, []string{"POLICIES=none"}, []prefetch.Policy{everyOther{}}, []readbench.Strategy{none, mine}},
	} {
		got, err := tc.mapping.Strategies(load(t, tc.settings...), tc.own...)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, got, err, tc.want)
		}
	}
}

// The names and calls that the configuration accepts are those of this package, no more and no fewer.
func TestConfigurationKnowsAllNames(t *testing.T) {
	all := strings.Join(prefetch.Names(), ",")
	if c := load(t, "POLICIES="+all); !slices.Equal(c.Policies, prefetch.Names()) {
		t.Errorf("%s is read as %q", all, c.Policies)
	}
	_, err := readbench.Load([]string{"READBENCH_POLICIES=?"})
	if err == nil || !strings.Contains(err.Error(), "there are "+strings.Join(prefetch.Names(), ", ")+" (") {
		t.Errorf("the error does not list the names of the policies: %v", err)
	}
	for _, kind := range []prefetch.ProbeKind{prefetch.Cachestat, prefetch.Mincore} {
		load(t, "PROBE="+string(kind))
	}
	for _, kind := range []prefetch.HintKind{prefetch.Fadvise, prefetch.ProcessMadvise, prefetch.Madvise} {
		load(t, "HINT="+string(kind))
	}
}
