package readbench

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/result"
	"github.com/readbench/suite/internal/testfile"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

// testSize is large enough for a few read-aheads of 8 MiB to stay under a tenth of the file.
const testSize = 256 << 20

var testDir string

func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() != "" && flag.Lookup("test.run").Value.String() == "" {
		os.Exit(0) // there are no benchmarks here, and "go test -bench=. -count=10 ./..." wants no tests, ten times
	}
	var err error
	if testDir, err = os.MkdirTemp("", "readbench"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := errors.Join(os.RemoveAll(testDir), goleak.Find()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

var testFile = sync.OnceValues(func() (string, error) {
	path := filepath.Join(testDir, "data.bin")
	_, err := datafile.Create(context.Background(), datafile.Spec{Path: path, Size: testSize, Seed: 1})
	return path, err
})

// testSuite returns a suite on the shared test file; settings are READBENCH_ variables without the prefix.
func testSuite(t *testing.T, settings ...string) *Suite {
	t.Helper()
	testfile.RequireDisk(t, testDir)
	path, err := testFile()
	if err != nil {
		t.Fatal(err)
	}
	return testSuiteOn(t, path, settings...)
}

func testSuiteOn(t *testing.T, path string, settings ...string) *Suite {
	t.Helper()
	environ := []string{config.EnvPrefix + "FILE=" + path, config.EnvPrefix + "WARMUP=0s"}
	for _, s := range settings {
		environ = append(environ, config.EnvPrefix+s)
	}
	c, err := Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	f, err := files.Open(t.Context(), c, false)
	if err != nil {
		t.Fatal(err)
	}
	return suiteOf(t, c, f)
}

// suiteOf returns a suite on files, which it closes when the test ends.
func suiteOf(t *testing.T, c *config.Config, fs ...*files.File) *Suite {
	t.Helper()
	t.Cleanup(func() {
		if err := files.Set(fs).Close(); err != nil {
			t.Error(err)
		}
	})
	s, err := newSuite(c, io.Discard, fs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// mayStay is the share of a file's pages that may stay after evicting it.
const mayStay = 0.001

// evict evicts files, behind the back of the case that keeps them. opened is what a strategy holds of each, or nil.
func evict(ctx context.Context, fs files.Set, opened []strategy.Opened) error {
	for i, f := range fs {
		e := pagecache.Evictor{Limit: mayStay}
		if opened != nil {
			if m, ok := opened[i].(strategy.Mapper); ok {
				e.Unmap = func() error { return m.Drop(0, f.Size()) }
			}
		}
		if _, err := e.Evict(ctx, f.Control, f.Size()); err != nil {
			return err
		}
	}
	return nil
}

// spoken is what is printed for people while f runs.
func spoken(t *testing.T, f func()) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	func() {
		old := os.Stderr
		os.Stderr = out
		defer func() { os.Stderr = old }()
		f()
	}()
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// randomRow is a row as the random workload makes it.
func randomRow(s *Suite, st strategy.Strategy, pageCase string, threads int) Row {
	return Row{
		Strategy: st, Case: pageCase, Threads: threads,
		Batch: cmp.Or(s.config.ReadsPerOp, 16), MaxRange: int(s.config.ReadSize.Or(16 << 10)[0]),
	}
}

// measureRow opens a row, measures n ops of it, and judges them, as a benchmark would. What cannot run here is skipped.
func measureRow(t *testing.T, s *Suite, row Row, n int) (res *result.Result, err error) {
	t.Helper()
	r, err := s.open(row)
	if err != nil {
		if errors.Is(err, strategy.ErrUnsupported) {
			t.Skip(err)
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	benchmarkN(t, n, func(b *testing.B) {
		if res, err = r.measure(b); err == nil {
			err = errors.Join(r.state.Judge(res), res.JudgeSyscalls())
		}
	})
	return res, err
}

// benchmarkN calls f once, with a b.N of n.
func benchmarkN(t *testing.T, n int, f func(b *testing.B)) {
	t.Helper()
	benchtime := flag.Lookup("test.benchtime")
	old := benchtime.Value.String()
	if err := benchtime.Value.Set(fmt.Sprintf("%dx", n)); err != nil {
		t.Fatal(err)
	}
	calls := 0
	testing.Benchmark(func(b *testing.B) {
		if b.N == n { // it tries 1 first
			calls++
			f(b)
		}
	})
	if err := benchtime.Value.Set(old); err != nil {
		t.Fatal(err)
	}
	if calls != 1 {
		t.Fatalf("measured %d times", calls)
	}
}

// wantError fails the test unless err contains part.
func wantError(t *testing.T, err error, part string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Errorf("error is %v, want one with %q", err, part)
	}
}
