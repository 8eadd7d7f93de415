package storedfields_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/storedfields"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

func TestMain(m *testing.M) { readbench.Main(m) }

func BenchmarkRetrieveMmap(b *testing.B) {
	storedfields.Retrieve(b, storedfields.InPlace(strategies.Mmap()))
}
func BenchmarkRetrieveMmapRandom(b *testing.B) {
	storedfields.Retrieve(b, storedfields.InPlace(strategies.MmapRandom()))
}
func BenchmarkRetrievePread(b *testing.B)       { storedfields.Retrieve(b, strategies.Pread()) }
func BenchmarkRetrievePreadDirect(b *testing.B) { storedfields.Retrieve(b, strategies.PreadDirect()) }
func BenchmarkRetrieveUring(b *testing.B)       { engines(b, strategies.Uring) }
func BenchmarkRetrieveUringDirect(b *testing.B) { engines(b, strategies.UringDirect) }

func BenchmarkPrefetchThenReadMmap(b *testing.B) {
	storedfields.PrefetchThenRead(b, strategies.Prefetching{})
}
func BenchmarkPrefetchThenReadMmapRandom(b *testing.B) {
	storedfields.PrefetchThenRead(b, strategies.Prefetching{Random: true})
}
func BenchmarkPrefetchOnlyMmap(b *testing.B) { storedfields.PrefetchOnly(b, strategies.Prefetching{}) }
func BenchmarkPrefetchOnlyMmapRandom(b *testing.B) {
	storedfields.PrefetchOnly(b, strategies.Prefetching{Random: true})
}

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(strategies.Engine) strategy.Strategy) {
	for _, e := range strategies.Engines() {
		storedfields.Retrieve(b, of(e))
	}
}
