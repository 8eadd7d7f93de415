package strategies_test

import (
	"strings"
	"testing"

	"github.com/readbench/suite/readbench/readtest"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// Every strategy of ours keeps the contract.
func TestBuiltIn(t *testing.T) {
	all := []strategy.Strategy{
		strategies.Mmap(), strategies.MmapRandom(), strategies.MmapPrefetch(), strategies.MmapRandomPrefetch(),
		strategies.MmapSequential(), strategies.MmapRandomWindow(),
		strategies.Pread(), strategies.PreadSequential(), strategies.PreadRandom(), strategies.PreadWindow(),
		strategies.ReadAt(), strategies.PreadDirect(),
	}
	for _, e := range strategies.Engines() {
		all = append(all, strategies.Uring(e), strategies.UringMmap(e), strategies.UringDirect(e), strategies.UringDirectFixed(e),
			strategies.UringDirectPipelined(e), strategies.UringDirectAhead(e))
	}
	for _, s := range all {
		t.Run(name(s), func(t *testing.T) { readtest.Test(t, s) })
	}
}

// name is a strategy's name with its labels.
func name(s strategy.Strategy) string {
	if l, ok := s.(strategy.Labeler); ok {
		return strings.Join(append([]string{s.Name()}, l.Labels()...), ",")
	}
	return s.Name()
}
