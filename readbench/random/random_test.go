package random_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/random"
)

func TestMain(m *testing.M) { readbench.Main(m, "BenchmarkPreadDirect") }

func BenchmarkMmap(b *testing.B)         { random.Run(b, readbench.Mmap()) }
func BenchmarkMmapRandom(b *testing.B)   { random.Run(b, readbench.MmapRandom()) }
func BenchmarkMmapPrefetch(b *testing.B) { random.RunPolicies(b, prefetch.Strategy{}) }
func BenchmarkMmapRandomPrefetch(b *testing.B) {
	random.RunPolicies(b, prefetch.Strategy{Random: true})
}
func BenchmarkPread(b *testing.B)       { random.Run(b, readbench.Pread()) }
func BenchmarkReadAt(b *testing.B)      { random.Run(b, readbench.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B) { random.Run(b, readbench.PreadDirect()) }
func BenchmarkNull(b *testing.B)        { random.RunNull(b) }
