package uring

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/pagecache"
)

var benchFile = flag.String("file", "", "data file of seed 1 that benchmarks read; without it, one of 256 MiB in a temporary directory")

const (
	benchRead  = 16 << 10 // bytes of a read
	benchReads = 16       // reads of an op
)

// openBench opens the file of benchmarks.
func openBench(b *testing.B, flags int) *os.File {
	path := *benchFile
	if path == "" {
		path = filepath.Join(b.TempDir(), "data")
		if _, err := datafile.Create(context.Background(), datafile.Spec{Path: path, Size: 256 << 20, Seed: 1}); err != nil {
			b.Fatal(err)
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return f
}

// A bencher draws reads and checks them, as a strategy's user does.
type bencher struct {
	rng     *rand.Rand
	blocks  int64
	content datafile.Content
	offs    [8][benchReads]int64 // of batches under way
	batch   int                  // that is delivered
	reads   int
}

func newBencher(b *testing.B, f *os.File) *bencher {
	st, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	return &bencher{rng: rand.New(rand.NewPCG(1, rand.Uint64())), blocks: st.Size() / benchRead, content: datafile.New(1)}
}

// add draws the reads of batch k.
func (x *bencher) add(r *Ring, k int) {
	offs := &x.offs[k%len(x.offs)]
	for i := range offs {
		offs[i] = x.rng.Int64N(x.blocks) * benchRead
		r.Add(offs[i], benchRead)
	}
}

func (x *bencher) each(i int, p []byte) error {
	x.reads++
	if off := x.offs[x.batch%len(x.offs)][i]; !x.content.CheckEnds(p, off) {
		return x.content.Explain(p, off)
	}
	return nil
}

// measure runs op for every k < b.N, and reports what a read costs.
func measure(b *testing.B, r *Ring, op func(k int) error) {
	var before, after unix.Rusage
	counts := r.Counts()
	if err := unix.Getrusage(unix.RUSAGE_SELF, &before); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(benchRead * benchReads)
	b.ResetTimer()
	for k := range b.N {
		if err := op(k); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := unix.Getrusage(unix.RUSAGE_SELF, &after); err != nil {
		b.Fatal(err)
	}
	reads := float64(b.N) * benchReads
	cpu := func(u unix.Rusage) int64 { return u.Utime.Nano() + u.Stime.Nano() }
	b.ReportMetric(reads/b.Elapsed().Seconds(), "reads/s")
	b.ReportMetric(float64(cpu(after)-cpu(before))/reads, "cpu-ns/read")
	b.ReportMetric(float64(after.Nvcsw-before.Nvcsw+after.Nivcsw-before.Nivcsw)/reads, "ctxsw/read")
	b.ReportMetric(float64(r.Counts().Enters-counts.Enters)/reads, "enter/read")
}

func openBenchRing(b *testing.B, o Options) *Ring {
	o.MaxRange = benchRead
	if o.Depth == 0 {
		o.Depth = benchReads
	}
	r, err := Open(o)
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() {
		if err := r.Close(); err != nil {
			b.Error(err)
		}
	})
	return r
}

// benchOptions are the options of benchmarks by name.
var benchOptions = []struct {
	name string
	o    Options
}{
	{"engine=ring/how=keep", Options{OneThread: true, KeepProcessor: true}},
	{"engine=ring/how=keep-fixed", Options{OneThread: true, KeepProcessor: true, FixedBuffers: true, FixedFile: true}},
	{"engine=ring/how=keep-huge", Options{OneThread: true, KeepProcessor: true, HugePages: true}},
	{"engine=ring/how=keep-fixed-huge", Options{OneThread: true, KeepProcessor: true, FixedBuffers: true, FixedFile: true, HugePages: true}},
	{"engine=ring/how=thread", Options{OneThread: true}},
	{"engine=ring/how=any", Options{}},
	{"engine=giouring/how=thread", Options{Engine: EngineGiouring, OneThread: true}},
	{"engine=giouring/how=any", Options{Engine: EngineGiouring}},
}

// BenchmarkDirect reads 16 random blocks of 16 KiB an op with O_DIRECT: one submit-and-wait. It is to be compared with
//
//	fio --ioengine=io_uring --direct=1 --rw=randread --bs=16k --iodepth=16 --iodepth_batch_submit=16 --iodepth_batch_complete_min=16
//
// Run it with -cpu=1, as readbench runs a row of one thread.
func BenchmarkDirect(b *testing.B) {
	for _, c := range benchOptions {
		b.Run(c.name, func(b *testing.B) {
			o := c.o
			o.File, o.Align = openBench(b, unix.O_DIRECT), os.Getpagesize()
			benchDo(b, o)
		})
	}
}

// BenchmarkCached is BenchmarkDirect through the page cache, from a file that is resident after the first round.
func BenchmarkCached(b *testing.B) {
	for _, c := range benchOptions {
		b.Run(c.name, func(b *testing.B) {
			o := c.o
			o.File = openBench(b, 0)
			if err := warm(b, o.File); err != nil {
				b.Fatal(err)
			}
			benchDo(b, o)
		})
	}
}

func warm(b *testing.B, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	return pagecache.Warm(b.Context(), f, st.Size())
}

func benchDo(b *testing.B, o Options) {
	r := openBenchRing(b, o)
	x := newBencher(b, o.File)
	measure(b, r, func(k int) error {
		x.batch = k
		x.add(r, k)
		return r.Do(x.each)
	})
}

// BenchmarkPipelined is BenchmarkDirect with the reads of the next ops in flight while those of this one are awaited: to
// be compared with fio's --iodepth=16 alone.
func BenchmarkPipelined(b *testing.B) {
	for _, batches := range []int{2, 3} {
		for _, c := range benchOptions {
			b.Run(fmt.Sprintf("batches=%d/%s", batches, c.name), func(b *testing.B) {
				o := c.o
				o.File, o.Align, o.Batches, o.Batch = openBench(b, unix.O_DIRECT), os.Getpagesize(), batches, benchReads
				benchPipelined(b, o)
			})
		}
	}
}

func benchPipelined(b *testing.B, o Options) {
	r := openBenchRing(b, o)
	x := newBencher(b, o.File)
	started := 0
	measure(b, r, func(k int) error {
		for ; started < min(k+o.Batches, b.N); started++ {
			x.add(r, started)
			if err := r.Start(); err != nil {
				return err
			}
		}
		x.batch = k
		return r.Finish(x.each)
	})
}
