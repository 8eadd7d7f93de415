package prefetch

import (
	"errors"
	"fmt"
	"runtime"
)

// NewAdvisor finds out which calls there are and what they cost, takes the probe and the hint that are asked
// for, or else the cheapest, and opens the policy. It measures once per process, file, number of workers and
// size of ranges: some milliseconds, and reads of 16 ranges, so some of the file may be in the page cache
// afterwards. What the kernel lacks or refuses is left out (see LeftOut). An error that wraps
// strategy.ErrUnsupported says that nothing is left of a kind, or not what was asked for.
//
// The caller closes the Advisor.
func NewAdvisor(c Config) (*Advisor, error) { return newAdvisor(c, system()) }

func newAdvisor(c Config, k *kernel) (_ *Advisor, err error) {
	switch {
	case c.Policy == nil:
		return nil, errors.New("an advisor needs a policy")
	case len(c.Data) == 0:
		return nil, fmt.Errorf("prefetching on %s: the mapping is empty", c.Name)
	case c.PageSize <= 0 || c.PageSize&(c.PageSize-1) != 0:
		return nil, fmt.Errorf("prefetching on %s: a page size is a power of two, this is %d", c.Name, c.PageSize)
	case c.Workers < 1 || c.Faults < 1:
		return nil, fmt.Errorf("prefetching on %s: %d workers with %d faults a range; there is at least one of each", c.Name, c.Workers, c.Faults)
	}
	a := &Advisor{c: c, k: k, pidfd: -1}
	a.target = Target{Size: int64(len(c.Data)), PageSize: c.PageSize, Workers: c.Workers, Processors: runtime.NumCPU(), Faults: c.Faults}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	if err := a.choose(); err != nil {
		return nil, err
	}
	a.open = c.Policy.Open(a.target)
	return a, nil
}
