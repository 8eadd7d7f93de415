package prefetch

import "github.com/readbench/suite/readbench"

// Strategies are the prefetching strategies that a configuration asks for, on the mapping that s describes (of
// which only Random counts): one for each of READBENCH_POLICIES, and then one for each policy of the caller's own.
// They all probe and hint by the same calls, READBENCH_PROBE and READBENCH_HINT or else the cheapest: what
// differs between them is the policy and nothing else.
//
// If nothing is asked for and there are no own policies, it is readbench.MmapRandomPrefetch, or MmapPrefetch, alone:
// one madvise for each range, without an advisor.
func (s Strategy) Strategies(c *readbench.Config, own ...Policy) ([]readbench.Strategy, error) {
	if Stock(c) && len(own) == 0 {
		if s.Random {
			return []readbench.Strategy{readbench.MmapRandomPrefetch()}, nil
		}
		return []readbench.Strategy{readbench.MmapPrefetch()}, nil
	}
	names := c.Policies
	if len(names) == 0 && len(own) == 0 {
		names = readbench.PolicyList{Always().Name()}
	}
	s.Probe, s.Hint = ProbeKind(c.Probe), HintKind(c.Hint)
	var all []readbench.Strategy
	for _, name := range names {
		var err error
		if s.Policy, err = New(name); err != nil {
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
func Stock(c *readbench.Config) bool {
	return len(c.Policies) == 0 && c.Probe == "" && c.Hint == ""
}
