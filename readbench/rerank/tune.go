package rerank

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// tuning is how a pool is set.
type tuning struct{ readers, procs int }

const (
	tuneTime   = 60 * time.Millisecond // of each candidate in each round
	tuneRounds = 2
)

// candidates are the settings that are tried: reads under way at a time, and processors of Go, of which a blocked read holds
// one until the monitor thread takes it back. procs is 0 if it is not ours to set.
func candidates(threads int, procs config.Procs) (ts []tuning) {
	for _, readers := range []int{8, 16, 32, 64, 128} {
		if procs == config.ProcsInherit {
			ts = append(ts, tuning{readers, 0})
			continue
		}
		seen := map[int]bool{}
		for _, p := range []int{runtime.NumCPU(), 2 * runtime.NumCPU(), max(threads, 16)} {
			if !seen[p] {
				ts = append(ts, tuning{readers, p})
			}
			seen[p] = true
		}
	}
	return ts
}

// tunePool finds the setting with which so many threads read most batches of so many vectors from random places: all of
// them in turn, and that tuneRounds times over, so that no one has the disk's best moments.
func tunePool(f *strategy.File, c *config.Config, x *index, threads int) (tuning, error) {
	defer notice.Slow("tuning the pool for %d threads", threads)()
	ts := candidates(threads, c.Procs)
	batches := make([]int, len(ts))
	for round := range tuneRounds {
		for i, t := range ts {
			n, err := tryPool(f, x, threads, t, uint64(round*len(ts)+i))
			if err != nil {
				return t, fmt.Errorf("tuning the pool: %w", err)
			}
			batches[i] += n
		}
	}
	best := 0
	for i, n := range batches {
		if n > batches[best] {
			best = i
		}
	}
	return ts[best], nil
}

// tryPool returns how many batches a setting reads in tuneTime, those that it has begun being read to their end.
func tryPool(f *strategy.File, x *index, threads int, t tuning, seed uint64) (batches int, err error) {
	if t.procs > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(t.procs))
	}
	setup := strategy.Setup{Threads: threads, Batch: x.shortlist, MaxRange: x.bytes()}
	o, err := Pool(t.readers).Open(f, setup)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for id := range threads {
		wg.Go(func() {
			n, e := readBatches(o, x, id, rand.New(rand.NewPCG(seed, uint64(id))), start.Add(tuneTime))
			mu.Lock()
			defer mu.Unlock()
			batches += n
			err = errors.Join(err, e)
		})
	}
	wg.Wait()
	// Not batches alone: the last ones may have taken long.
	return int(float64(batches) * 1000 * float64(tuneTime) / float64(time.Since(start))), err
}

// readBatches reads batches until the time is up, and checks them.
func readBatches(o strategy.Opened, x *index, id int, rng *rand.Rand, end time.Time) (n int, err error) {
	r, err := o.Reader(id)
	if err != nil {
		return 0, err
	}
	if c, ok := r.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	batch, ok := r.(strategy.BatchReader)
	if !ok {
		return 0, fmt.Errorf("%T reads no batches", r)
	}
	ids, rs := make([]int32, x.shortlist), make([]strategy.Range, x.shortlist)
	check := func(i int, p []byte) error {
		if x.sum(p) != x.sums[ids[i]] {
			return x.explain(ids[i], p)
		}
		return nil
	}
	for ; n == 0 || time.Now().Before(end); n++ {
		for i := range ids {
			ids[i] = rng.Int32N(int32(x.vectors))
			rs[i] = x.place(ids[i])
		}
		if err := batch.ReadBatch(rs, check); err != nil {
			return n, err
		}
	}
	return n, nil
}
