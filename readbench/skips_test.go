package readbench

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/readbench/suite/internal/memlimit"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/refusal"
	"github.com/readbench/suite/readbench/strategy"
)

// Names of rows are listed in short: these rows, and no others.
func TestPatterns(t *testing.T) {
	for name, tc := range map[string]struct{ rows, want []string }{
		"one":              {[]string{"BenchmarkMmap/case=hot/threads=1"}, []string{"BenchmarkMmap/case=hot/threads=1"}},
		"no parts":         {[]string{"BenchmarkMmap", "BenchmarkPread"}, []string{"Benchmark(Mmap|Pread)"}},
		"one part differs": {[]string{"BenchmarkMmap/case=hot/threads=1", "BenchmarkMmap/case=hot/threads=8"}, []string{"BenchmarkMmap/case=hot/threads=(1|8)"}},
		"all of two parts": {[]string{"BenchmarkA/case=hot/threads=1", "BenchmarkA/case=hot/threads=8", "BenchmarkA/case=cold/threads=1", "BenchmarkA/case=cold/threads=8"},
			[]string{"BenchmarkA/case=(hot|cold)/threads=(1|8)"}},
		"not all of two parts": {[]string{"BenchmarkA/case=hot/threads=8", "BenchmarkA/case=cold/threads=1", "BenchmarkA/case=cold/threads=8"},
			[]string{"BenchmarkA/case=hot/threads=8", "BenchmarkA/case=cold/threads=(1|8)"}},
		"functions with the same rows": {[]string{"BenchmarkA/case=hot/threads=1", "BenchmarkA/case=cold/threads=1", "BenchmarkB/case=hot/threads=1", "BenchmarkB/case=cold/threads=1"},
			[]string{"Benchmark(A|B)/case=(hot|cold)/threads=1"}},
		"functions with others": {[]string{"BenchmarkA/case=hot/threads=1", "BenchmarkB/case=hot/policy=always/threads=1", "BenchmarkC/case=hot/threads=1"},
			[]string{"Benchmark(A|C)/case=hot/threads=1", "BenchmarkB/case=hot/policy=always/threads=1"}},
		"parts of other kinds": {[]string{"BenchmarkA/case=hot/threads=1", "BenchmarkA/case=hot/policy=always/threads=1"},
			[]string{"BenchmarkA/case=hot/threads=1", "BenchmarkA/case=hot/policy=always/threads=1"}},
		"one name begins another": {[]string{"BenchmarkA/case=hot", "BenchmarkA/case=hot/threads=1"}, []string{"BenchmarkA/case=hot", "BenchmarkA/case=hot/threads=1"}},
		"no keys":                 {[]string{"BenchmarkA/x", "BenchmarkA/y=1"}, []string{"BenchmarkA/(x|y=1)"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := patterns(tc.rows); !slices.Equal(got, tc.want) {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// A cause in short is what was refused and why, whoever met it, and in one line.
func TestInShort(t *testing.T) {
	tmpfs := refusal.Errorf(pagecache.ErrUnsupported, "evicting F: it lies on tmpfs; use a disk")
	for _, tc := range []struct {
		cause error
		want  string
	}{
		{strategy.Unsupported("hot: %w", tmpfs), "evicting F: it lies on tmpfs"},
		{fmt.Errorf("mmap: %w", strategy.Unsupported("cold: %w", tmpfs)), "evicting F: it lies on tmpfs"},
		{strategy.Unsupported("cold, threads=8: too few places; take a larger file"), "cold, threads=8: too few places"},
		{strategy.Unsupported("pressure200: %w\nand no more memory", refusal.Errorf(memlimit.ErrUnsupported, "no group: refused; what helps:\n\tone\n\ttwo")), "no group: refused"},
		{errors.New("whatever it is; do this"), "whatever it is"},
	} {
		if got := inShort(tc.cause); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}
