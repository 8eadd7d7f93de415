package sequential_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/sequential"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

func TestMain(m *testing.M) {
	readbench.Main(m, "BenchmarkPreadDirect", "BenchmarkUringDirect", "BenchmarkUringDirectFixed", "BenchmarkUringDirectPipelined", "BenchmarkUringDirectAhead")
}

func BenchmarkMmap(b *testing.B)                 { sequential.Run(b, strategies.Mmap()) }
func BenchmarkMmapSequential(b *testing.B)       { sequential.Run(b, strategies.MmapSequential()) }
func BenchmarkMmapRandom(b *testing.B)           { sequential.Run(b, strategies.MmapRandom()) }
func BenchmarkMmapRandomPrefetch(b *testing.B)   { sequential.Run(b, strategies.MmapRandomPrefetch()) }
func BenchmarkMmapRandomWindow(b *testing.B)     { sequential.Run(b, strategies.MmapRandomWindow()) }
func BenchmarkPread(b *testing.B)                { sequential.Run(b, strategies.Pread()) }
func BenchmarkPreadSequential(b *testing.B)      { sequential.Run(b, strategies.PreadSequential()) }
func BenchmarkPreadRandom(b *testing.B)          { sequential.Run(b, strategies.PreadRandom()) }
func BenchmarkPreadWindow(b *testing.B)          { sequential.Run(b, strategies.PreadWindow()) }
func BenchmarkReadAt(b *testing.B)               { sequential.Run(b, strategies.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B)          { sequential.Run(b, strategies.PreadDirect()) }
func BenchmarkUring(b *testing.B)                { engines(b, strategies.Uring) }
func BenchmarkUringMmap(b *testing.B)            { engines(b, strategies.UringMmap) }
func BenchmarkUringDirect(b *testing.B)          { engines(b, strategies.UringDirect) }
func BenchmarkUringDirectFixed(b *testing.B)     { engines(b, strategies.UringDirectFixed) }
func BenchmarkUringDirectPipelined(b *testing.B) { engines(b, strategies.UringDirectPipelined) }
func BenchmarkUringDirectAhead(b *testing.B)     { engines(b, strategies.UringDirectAhead) }
func BenchmarkNull(b *testing.B)                 { sequential.RunNull(b) }

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(strategies.Engine) strategy.Strategy) {
	for _, e := range strategies.Engines() {
		sequential.Run(b, of(e))
	}
}
