package sequential_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/sequential"
)

func TestMain(m *testing.M) {
	readbench.Main(m, "BenchmarkPreadDirect", "BenchmarkUringDirect", "BenchmarkUringDirectFixed", "BenchmarkUringDirectPipelined", "BenchmarkUringDirectAhead")
}

func BenchmarkMmap(b *testing.B)                 { sequential.Run(b, readbench.Mmap()) }
func BenchmarkMmapSequential(b *testing.B)       { sequential.Run(b, readbench.MmapSequential()) }
func BenchmarkMmapRandom(b *testing.B)           { sequential.Run(b, readbench.MmapRandom()) }
func BenchmarkMmapRandomPrefetch(b *testing.B)   { sequential.Run(b, readbench.MmapRandomPrefetch()) }
func BenchmarkMmapRandomWindow(b *testing.B)     { sequential.Run(b, readbench.MmapRandomWindow()) }
func BenchmarkPread(b *testing.B)                { sequential.Run(b, readbench.Pread()) }
func BenchmarkPreadSequential(b *testing.B)      { sequential.Run(b, readbench.PreadSequential()) }
func BenchmarkPreadRandom(b *testing.B)          { sequential.Run(b, readbench.PreadRandom()) }
func BenchmarkPreadWindow(b *testing.B)          { sequential.Run(b, readbench.PreadWindow()) }
func BenchmarkReadAt(b *testing.B)               { sequential.Run(b, readbench.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B)          { sequential.Run(b, readbench.PreadDirect()) }
func BenchmarkUring(b *testing.B)                { engines(b, readbench.Uring) }
func BenchmarkUringMmap(b *testing.B)            { engines(b, readbench.UringMmap) }
func BenchmarkUringDirect(b *testing.B)          { engines(b, readbench.UringDirect) }
func BenchmarkUringDirectFixed(b *testing.B)     { engines(b, readbench.UringDirectFixed) }
func BenchmarkUringDirectPipelined(b *testing.B) { engines(b, readbench.UringDirectPipelined) }
func BenchmarkUringDirectAhead(b *testing.B)     { engines(b, readbench.UringDirectAhead) }
func BenchmarkNull(b *testing.B)                 { sequential.RunNull(b) }

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(readbench.Engine) readbench.Strategy) {
	for _, e := range readbench.Engines() {
		sequential.Run(b, of(e))
	}
}
