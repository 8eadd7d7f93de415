package readbench_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/readtest"
)

// Every strategy of ours keeps the contract.
func TestStrategies(t *testing.T) {
	for _, s := range []readbench.Strategy{
		readbench.Mmap(), readbench.MmapRandom(), readbench.MmapPrefetch(), readbench.MmapRandomPrefetch(),
		readbench.MmapSequential(), readbench.MmapRandomWindow(),
		readbench.Pread(), readbench.PreadSequential(), readbench.PreadRandom(), readbench.PreadWindow(),
		readbench.ReadAt(), readbench.PreadDirect(),
	} {
		t.Run(s.Name(), func(t *testing.T) { readtest.Test(t, s) })
	}
}
