package storedfields_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
	"github.com/readbench/suite/readbench/storedfields"
)

func TestMain(m *testing.M) { readbench.Main(m) }

func BenchmarkRetrieveMmap(b *testing.B) {
	storedfields.Retrieve(b, storedfields.InPlace(readbench.Mmap()))
}
func BenchmarkRetrieveMmapRandom(b *testing.B) {
	storedfields.Retrieve(b, storedfields.InPlace(readbench.MmapRandom()))
}
func BenchmarkRetrievePread(b *testing.B)       { storedfields.Retrieve(b, readbench.Pread()) }
func BenchmarkRetrievePreadDirect(b *testing.B) { storedfields.Retrieve(b, readbench.PreadDirect()) }
func BenchmarkRetrieveUring(b *testing.B)       { engines(b, readbench.Uring) }
func BenchmarkRetrieveUringDirect(b *testing.B) { engines(b, readbench.UringDirect) }

func BenchmarkPrefetchThenReadMmap(b *testing.B) {
	storedfields.PrefetchThenRead(b, prefetch.Strategy{})
}
func BenchmarkPrefetchThenReadMmapRandom(b *testing.B) {
	storedfields.PrefetchThenRead(b, prefetch.Strategy{Random: true})
}
func BenchmarkPrefetchOnlyMmap(b *testing.B) { storedfields.PrefetchOnly(b, prefetch.Strategy{}) }
func BenchmarkPrefetchOnlyMmapRandom(b *testing.B) {
	storedfields.PrefetchOnly(b, prefetch.Strategy{Random: true})
}

// engines runs the rows of a strategy on io_uring with each engine that is in this program.
func engines(b *testing.B, of func(readbench.Engine) readbench.Strategy) {
	for _, e := range readbench.Engines() {
		storedfields.Retrieve(b, of(e))
	}
}
