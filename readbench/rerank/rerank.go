package rerank

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/prefetch"
)

// manyQueries is how many different queries there are, unless a case says otherwise: so many that the draws reach all vectors.
const manyQueries = 1 << 20

// A Data is the vectors' file and what is known of it in memory.
type Data struct {
	suite  *readbench.Suite
	index  *index
	full   []uint32 // with READBENCH_VERIFY=full
	recall float64
}

var made struct {
	once sync.Once
	data *Data
	err  error
}

// start returns the data that READBENCH_* variables describe, made on the first call in a process.
func start(b *testing.B) *Data {
	b.Helper()
	suite := readbench.StartFiles(b, open)
	made.once.Do(func() { made.data, made.err = newData(context.Background(), suite) })
	if made.err != nil {
		b.Fatal(made.err)
	}
	return made.data
}

// open is the workload's Maker.
func open(ctx context.Context, c *readbench.Config) ([]*readbench.File, error) {
	s := newSpec(c)
	path, err := s.path()
	if err != nil {
		return nil, err
	}
	f, err := s.open(ctx, path)
	if err != nil {
		return nil, err
	}
	return []*readbench.File{f}, nil
}

// newData makes what is in memory, and says what decides the results and is in no row's name.
func newData(ctx context.Context, suite *readbench.Suite) (*Data, error) {
	c := suite.Config()
	ctx, cancel := context.WithTimeout(ctx, c.SetupTimeout)
	defer cancel()
	s := newSpec(c)
	x, err := newIndex(ctx, s)
	if err != nil {
		return nil, err
	}
	d := &Data{suite: suite, index: x}
	if c.Verify == readbench.VerifyFull {
		if d.full, err = checksums(ctx, x); err != nil {
			return nil, err
		}
	}
	if d.recall, err = recall(ctx, x, c.Shortlist); err != nil {
		return nil, err
	}
	for _, setting := range [][2]string{
		{"vectors", fmt.Sprintf("%d of %d float32 in %d clusters, %s", s.vectors, s.dim, s.clusters, s.align)},
		{"shortlist", strconv.Itoa(c.Shortlist)},
	} {
		err = errors.Join(err, suite.Setting(setting[0], setting[1]))
	}
	for unit, better := range map[string]string{"queries/s": "higher", "recall-%": "higher", "reads/op": "lower"} {
		err = errors.Join(err, suite.Unit(unit, better))
	}
	return d, err
}

// backend is a way of reading a shortlist.
type backend struct {
	name     string
	strategy readbench.Strategy
}

// backends are those of the benchmarks. With several engines or policies there are several of one name.
func backends(c *readbench.Config, own ...prefetch.Policy) (bs []backend, err error) {
	bs = []backend{{"serial", readbench.PreadDirect()}, {"pool", Pool()}}
	for _, e := range readbench.Engines() {
		bs = append(bs, backend{"uring-direct", readbench.UringDirect(e)}, backend{"uring", readbench.Uring(e)})
	}
	bs = append(bs, backend{"mmap", readbench.MmapRandom()})
	policies, err := prefetch.Strategy{Random: true}.Strategies(c, own...)
	for _, s := range policies {
		bs = append(bs, backend{"mmap-prefetch", s})
	}
	return bs, err
}

// row is the row of a backend; a worker asks query what to answer next.
func (d *Data) row(be backend, pageCase string, threads int, m *meter, query func(w *readbench.Worker) func() (int64, error)) readbench.Row {
	c := d.suite.Config()
	row := readbench.Row{
		Strategy: be.strategy, Case: pageCase, Threads: threads, Labels: []string{"backend=" + be.name},
		Units: manyQueries, Batch: 1, MaxRanges: c.Shortlist, MaxRange: d.index.size(), Depth: 64,
		Skewed: true, // the vectors in the middle of a cluster are in more shortlists than others
		Extra:  m,
	}
	if pageCase == "cold" {
		row.Units = int64(d.index.clusters) // see draw
	}
	row.Op = func(w *readbench.Worker) (func() error, error) {
		s := newSearcher(w, d.index, c.Shortlist, d.full)
		m.searchers = append(m.searchers, s)
		next := query(w)
		return func() error {
			q, err := next()
			if err != nil {
				return err
			}
			return s.serve(q)
		}, nil
	}
	return row
}

// draw draws queries. In cold, units are clusters, so that no two queries between two evictions are of the same cluster: such
// would read many of the same vectors. Which of the cluster's queries it is, is drawn too.
func (d *Data) draw(pageCase string) func(w *readbench.Worker) func() (int64, error) {
	return func(w *readbench.Worker) func() (int64, error) {
		unit := make([]int64, 1)
		return func() (int64, error) {
			if _, err := w.DrawUnits(unit); err != nil {
				return 0, err
			}
			if pageCase == "cold" {
				unit[0] += int64(w.Rand().Uint64()%(manyQueries/uint64(d.index.clusters)+1)) * int64(d.index.clusters)
			}
			return unit[0], nil
		}
	}
}
