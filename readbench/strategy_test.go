package readbench_test

import (
	"strings"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/readtest"
)

// Every strategy of ours keeps the contract.
func TestStrategies(t *testing.T) {
	strategies := []readbench.Strategy{
		readbench.Mmap(), readbench.MmapRandom(), readbench.MmapPrefetch(), readbench.MmapRandomPrefetch(),
		readbench.MmapSequential(), readbench.MmapRandomWindow(),
		readbench.Pread(), readbench.PreadSequential(), readbench.PreadRandom(), readbench.PreadWindow(),
		readbench.ReadAt(), readbench.PreadDirect(),
	}
	for _, e := range readbench.Engines() {
		strategies = append(strategies, readbench.Uring(e), readbench.UringMmap(e), readbench.UringDirect(e), readbench.UringDirectFixed(e),
			readbench.UringDirectPipelined(e), readbench.UringDirectAhead(e))
	}
	for _, s := range strategies {
		t.Run(name(s), func(t *testing.T) { readtest.Test(t, s) })
	}
}

// name is a strategy's name with its labels.
func name(s readbench.Strategy) string {
	if l, ok := s.(readbench.Labeler); ok {
		return strings.Join(append([]string{s.Name()}, l.Labels()...), ",")
	}
	return s.Name()
}
