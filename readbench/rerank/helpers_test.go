package rerank

import (
	"bytes"
	"io"
	"testing"

	"go.uber.org/goleak"

	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// load is the configuration that READBENCH_ settings (without the prefix) make.
func load(t testing.TB, settings ...string) *config.Config {
	t.Helper()
	var environ []string
	for _, s := range settings {
		environ = append(environ, config.EnvPrefix+s)
	}
	c, err := readbench.Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// indexOf is what is in memory of the vectors that c describes.
func indexOf(t testing.TB, c *config.Config) *index {
	t.Helper()
	l, err := newLayout(c)
	if err != nil {
		t.Fatal(err)
	}
	x, err := newIndex(t.Context(), c, l, newSpace(c.Seed, l.dim, l.vectors))
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// dataOf makes data in a cache directory of the test's own, on a disk.
func dataOf(t *testing.T, settings ...string) *Data {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	d, err := OpenData(t.Context(), load(t, settings...))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// noLeaks fails the test if goroutines are left when it ends.
func noLeaks(t *testing.T) {
	t.Helper()
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, ignore) })
}

// memory is a source without a file: it makes the vectors again. It counts what it is asked for.
type memory struct {
	x            *index
	v            []float32
	harm         func(n int, p []byte) []byte // of what is handed out
	hinted, read int
}

func newMemory(x *index) *memory { return &memory{x: x, v: make([]float32, x.space.dim)} }

func (m *memory) Prefetch(_ int, rs []strategy.Range) error {
	m.hinted += len(rs)
	return nil
}

func (m *memory) Fetch(_ int, rs []strategy.Range, each func(i int, p []byte) error) error {
	m.read += len(rs)
	for k := range rs {
		i := len(rs) - 1 - k // any order is allowed
		n := int(rs[i].Off / m.x.stride)
		m.x.vector(m.v, n)
		p := asBytes(m.v)
		if m.harm != nil {
			p = m.harm(n, bytes.Clone(p))
		}
		if err := each(i, p); err != nil {
			return err
		}
	}
	return nil
}

// opened is a source on a strategy, as a worker of the core is one.
type opened struct {
	reader strategy.Reader
}

func (o opened) Prefetch(_ int, rs []strategy.Range) error {
	if p, ok := o.reader.(strategy.Prefetcher); ok {
		return p.Prefetch(rs)
	}
	return nil
}

func (o opened) Fetch(_ int, rs []strategy.Range, each func(i int, p []byte) error) error {
	if b, ok := o.reader.(strategy.BatchReader); ok {
		return b.ReadBatch(rs, each)
	}
	for i, r := range rs {
		p, err := o.reader.Read(r)
		if err == nil {
			err = each(i, p)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func closeReader(r strategy.Reader) error {
	if c, ok := r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
