package random_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/random"
)

func TestMain(m *testing.M) {
	readbench.Main(m, "BenchmarkPreadDirect", "BenchmarkUringDirect", "BenchmarkUringDirectFixed", "BenchmarkUringDirectPipelined")
}

func BenchmarkMmap(b *testing.B)         { random.Run(b, readbench.Mmap()) }
func BenchmarkMmapRandom(b *testing.B)   { random.Run(b, readbench.MmapRandom()) }
func BenchmarkMmapPrefetch(b *testing.B) { random.RunPolicies(b, prefetch.Strategy{}) }
func BenchmarkMmapRandomPrefetch(b *testing.B) {
	random.RunPolicies(b, prefetch.Strategy{Random: true})
}
func BenchmarkPread(b *testing.B)                { random.Run(b, readbench.Pread()) }
func BenchmarkReadAt(b *testing.B)               { random.Run(b, readbench.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B)          { random.Run(b, readbench.PreadDirect()) }
func BenchmarkNull(b *testing.B)                 { random.RunNull(b) }
func BenchmarkUring(b *testing.B)                { engines(b, readbench.Uring) }
func BenchmarkUringMmap(b *testing.B)            { engines(b, readbench.UringMmap) }
func BenchmarkUringDirect(b *testing.B)          { engines(b, readbench.UringDirect) }
func BenchmarkUringDirectFixed(b *testing.B)     { engines(b, readbench.UringDirectFixed) }
func BenchmarkUringDirectPipelined(b *testing.B) { engines(b, readbench.UringDirectPipelined) }

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(readbench.Engine) readbench.Strategy) {
	for _, e := range readbench.Engines() {
		random.Run(b, of(e))
	}
}
