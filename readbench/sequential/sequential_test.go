package sequential_test

import (
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/sequential"
)

func TestMain(m *testing.M) { readbench.Main(m, "BenchmarkPreadDirect") }

func BenchmarkMmap(b *testing.B)               { sequential.Run(b, readbench.Mmap()) }
func BenchmarkMmapSequential(b *testing.B)     { sequential.Run(b, readbench.MmapSequential()) }
func BenchmarkMmapRandom(b *testing.B)         { sequential.Run(b, readbench.MmapRandom()) }
func BenchmarkMmapRandomPrefetch(b *testing.B) { sequential.Run(b, readbench.MmapRandomPrefetch()) }
func BenchmarkMmapRandomWindow(b *testing.B)   { sequential.Run(b, readbench.MmapRandomWindow()) }
func BenchmarkPread(b *testing.B)              { sequential.Run(b, readbench.Pread()) }
func BenchmarkPreadSequential(b *testing.B)    { sequential.Run(b, readbench.PreadSequential()) }
func BenchmarkPreadRandom(b *testing.B)        { sequential.Run(b, readbench.PreadRandom()) }
func BenchmarkPreadWindow(b *testing.B)        { sequential.Run(b, readbench.PreadWindow()) }
func BenchmarkReadAt(b *testing.B)             { sequential.Run(b, readbench.ReadAt()) }
func BenchmarkPreadDirect(b *testing.B)        { sequential.Run(b, readbench.PreadDirect()) }
func BenchmarkNull(b *testing.B)               { sequential.RunNull(b) }
