package prefetchmicro_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetchmicro"
)

func TestMain(m *testing.M) { readbench.Main(m) }

func BenchmarkMincore(b *testing.B)         { prefetchmicro.Run(b, prefetchmicro.Mincore()) }
func BenchmarkCachestat(b *testing.B)       { prefetchmicro.Run(b, prefetchmicro.Cachestat()) }
func BenchmarkNowait(b *testing.B)          { prefetchmicro.Run(b, prefetchmicro.Nowait()) }
func BenchmarkMadviseWillneed(b *testing.B) { prefetchmicro.Run(b, prefetchmicro.MadviseWillneed()) }
func BenchmarkProcessMadvise(b *testing.B)  { prefetchmicro.Run(b, prefetchmicro.ProcessMadvise()) }
func BenchmarkFadviseWillneed(b *testing.B) { prefetchmicro.Run(b, prefetchmicro.FadviseWillneed()) }
func BenchmarkReadahead(b *testing.B)       { prefetchmicro.Run(b, prefetchmicro.Readahead()) }
func BenchmarkPopulateRead(b *testing.B)    { prefetchmicro.Run(b, prefetchmicro.PopulateRead()) }
func BenchmarkFaults(b *testing.B)          { prefetchmicro.RunFaults(b) }
func BenchmarkNull(b *testing.B)            { prefetchmicro.RunNull(b) }
