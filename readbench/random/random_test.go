package random_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/random"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

func TestMain(m *testing.M) {
	readbench.Main(m, "BenchmarkPreadDirect", "BenchmarkUringDirect", "BenchmarkUringDirectFixed", "BenchmarkUringDirectPipelined")
}

func BenchmarkMmap(b *testing.B)         { random.Run(b, strategies.Mmap()) }
func BenchmarkMmapRandom(b *testing.B)   { random.Run(b, strategies.MmapRandom()) }
func BenchmarkMmapPrefetch(b *testing.B) { random.RunPolicies(b, strategies.Prefetching{}) }
func BenchmarkMmapRandomPrefetch(b *testing.B) {
	random.RunPolicies(b, strategies.Prefetching{Random: true})
}
func BenchmarkPread(b *testing.B)                { random.Run(b, strategies.Pread()) }
func BenchmarkReadAt(b *testing.B)               { random.Run(b, strategies.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B)          { random.Run(b, strategies.PreadDirect()) }
func BenchmarkNull(b *testing.B)                 { random.RunNull(b) }
func BenchmarkUring(b *testing.B)                { engines(b, strategies.Uring) }
func BenchmarkUringMmap(b *testing.B)            { engines(b, strategies.UringMmap) }
func BenchmarkUringDirect(b *testing.B)          { engines(b, strategies.UringDirect) }
func BenchmarkUringDirectFixed(b *testing.B)     { engines(b, strategies.UringDirectFixed) }
func BenchmarkUringDirectPipelined(b *testing.B) { engines(b, strategies.UringDirectPipelined) }

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(strategies.Engine) strategy.Strategy) {
	for _, e := range strategies.Engines() {
		random.Run(b, of(e))
	}
}
