package strategies

import (
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/strategy"
)

// Strategies are the prefetching strategies that a configuration asks for, on the mapping that s describes (of
// which only Random counts): one for each of READBENCH_POLICIES, and then one for each policy of the caller's own.
// They all probe and hint by the same calls, READBENCH_PROBE and READBENCH_HINT or else the cheapest: what
// differs between them is the policy and nothing else.
//
// If nothing is asked for and there are no own policies, it is MmapRandomPrefetch, or MmapPrefetch, alone:
// one madvise for each range, without an advisor.
func (s Prefetching) Strategies(c *config.Config, own ...prefetch.Policy) ([]strategy.Strategy, error) {
	if Stock(c) && len(own) == 0 {
		if s.Random {
			return []strategy.Strategy{MmapRandomPrefetch()}, nil
		}
		return []strategy.Strategy{MmapPrefetch()}, nil
	}
	names := c.Policies
	if len(names) == 0 && len(own) == 0 {
		names = config.PolicyList{prefetch.Always().Name()}
	}
	s.Probe, s.Hint = prefetch.ProbeKind(c.Probe), prefetch.HintKind(c.Hint)
	var all []strategy.Strategy
	for _, name := range names {
		var err error
		if s.Policy, err = prefetch.New(name); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	for _, s.Policy = range own {
		all = append(all, s)
	}
	return all, nil
}

// Stock reports whether a configuration says nothing about prefetching: then rows with policy=always make one
// madvise for each range, else the hint that rows of other policies make.
func Stock(c *config.Config) bool {
	return len(c.Policies) == 0 && c.Probe == "" && c.Hint == ""
}
