package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// load is a configuration of these settings.
func load(t *testing.T, settings ...string) *config.Config {
	t.Helper()
	for i := range settings {
		settings[i] = config.EnvPrefix + settings[i]
	}
	c, err := config.Load(settings, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a configuration asks for is what runs: by default one madvise for each range, else a policy each, all by the
// same calls.
func TestStrategiesOfAConfiguration(t *testing.T) {
	random, normal := strategies.Prefetching{Random: true}, strategies.Prefetching{}
	adaptive, none := strategies.Prefetching{Policy: prefetch.Adaptive(), Random: true}, strategies.Prefetching{Policy: prefetch.None(), Random: true}
	always, mine := strategies.Prefetching{Policy: prefetch.Always(), Random: true}, strategies.Prefetching{Policy: everyOther{}, Random: true}
	fixed := adaptive
	fixed.Probe, fixed.Hint = prefetch.Mincore, prefetch.Madvise
	hinted := always
	hinted.Hint = prefetch.ProcessMadvise
	probed := always
	probed.Probe = prefetch.Cachestat
	for _, tc := range []struct {
		name     string
		mapping  strategies.Prefetching
		settings []string
		own      []prefetch.Policy
		want     []strategy.Strategy
	}{
		{"nothing set", random, nil, nil, []strategy.Strategy{strategies.MmapRandomPrefetch()}},
		{"nothing set, no advice", normal, nil, nil, []strategy.Strategy{strategies.MmapPrefetch()}},
		{"always by name", random, []string{"POLICIES=always"}, nil, []strategy.Strategy{always}},
		{"in the order that was written", random, []string{"POLICIES=adaptive,none"}, nil, []strategy.Strategy{adaptive, none}},
		{"no advice", normal, []string{"POLICIES=loaded"}, nil, []strategy.Strategy{strategies.Prefetching{Policy: prefetch.Loaded()}}},
		{"calls", random, []string{"POLICIES=adaptive", "PROBE=mincore", "HINT=madvise"}, nil, []strategy.Strategy{fixed}},
		{"a hint alone", random, []string{"HINT=process_madvise"}, nil, []strategy.Strategy{hinted}},
		{"a probe alone", random, []string{"PROBE=cachestat"}, nil, []strategy.Strategy{probed}},
		{"one's own alone", random, nil, []prefetch.Policy{everyOther{}}, []strategy.Strategy{mine}},
		{"one's own beside others", random, []string{"POLICIES=none"}, []prefetch.Policy{everyOther{}}, []strategy.Strategy{none, mine}},
	} {
		got, err := tc.mapping.Strategies(load(t, tc.settings...), tc.own...)
		if err != nil || !slices.Equal(got, tc.want) {
			t.Errorf("%s: %+v, %v, want %+v", tc.name, got, err, tc.want)
		}
	}
}

// The names and calls that the configuration accepts are those of package prefetch, no more and no fewer.
func TestConfigurationKnowsAllNames(t *testing.T) {
	all := strings.Join(prefetch.Names(), ",")
	if c := load(t, "POLICIES="+all); !slices.Equal(c.Policies, prefetch.Names()) {
		t.Errorf("%s is read as %q", all, c.Policies)
	}
	_, err := config.Load([]string{"READBENCH_POLICIES=?"}, nil)
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
