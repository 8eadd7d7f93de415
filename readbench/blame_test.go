package readbench

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Any variable can be named as the cause, with its value as it was set.
func TestBlame(t *testing.T) {
	environ := []string{
		"READBENCH_FILE=/dev/nvme 0n1", "READBENCH_SIZE=2GiB", "READBENCH_READ_SIZE=4KiB,1MiB", "READBENCH_WINDOW=1MiB", "READBENCH_DEPTH=32", "READBENCH_LIMIT=4GiB", "READBENCH_READS_PER_OP=1", "READBENCH_THREADS=2,3",
		"READBENCH_CASES=cold,mixed10", "READBENCH_WARMUP=1.5s", "READBENCH_SEED=7", "READBENCH_PROCS=inherit", "READBENCH_VERIFY=full", "READBENCH_METRICS=all",
		"READBENCH_SETUP_TIMEOUT=10m", "READBENCH_SHARE=go", "READBENCH_POLICIES=adaptive,none", "READBENCH_PROBE=mincore", "READBENCH_HINT=madvise",
		"READBENCH_LUCENE_INDEX=/index", "READBENCH_LUCENE_CHECK=full", "READBENCH_DOCS=10", "READBENCH_DOC_SIZE=1KiB", "READBENCH_DOC_TEXT=json", "READBENCH_SKEW=zipf", "READBENCH_TOPK=1,2",
		"READBENCH_DIM=8", "READBENCH_VECTORS=9", "READBENCH_ALIGN=packed", "READBENCH_SHORTLIST=7", "READBENCH_RATES=100,7", "READBENCH_HANDLERS=3", "READBENCH_QUEUE=4", "READBENCH_SLA_P99=1ms", "READBENCH_SLA_STEP=1h",
	}
	c, err := Load(environ)
	if err != nil {
		t.Fatal(err)
	}
	if len(environ) != len(fields()) {
		t.Errorf("%d of %d variables are set", len(environ), len(fields()))
	}
	cause := errors.New("the cause")
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		got := c.Blame(cause, strings.TrimPrefix(name, EnvPrefix))
		if want := name + `="` + value + `": the cause`; got.Error() != want || !errors.Is(got, cause) {
			t.Errorf("%v, want %s", got, want)
		}
	}
	unset, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := unset.Blame(cause, "FILE", "SIZE", "THREADS"); got != cause {
		t.Errorf("with nothing set: %v", got)
	}
	if err := c.Blame(nil, "FILE"); err != nil {
		t.Error(err)
	}
}

// What is well-formed and cannot be used where it is needed is an error that names the variable and the value.
func TestUnusableValues(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	if err := dataFile(1<<20, 1)(t, small); err != nil {
		t.Fatal(err)
	}
	row := func(pageCase string, change func(*Row)) func(*testing.T, *Config) error {
		return func(t *testing.T, c *Config) error {
			f, err := OpenFile(t.Context(), c)
			if err != nil {
				return err
			}
			s, err := newSuite(c, io.Discard, files{f})
			if err != nil {
				return err
			}
			defer s.Close()
			r := randomRow(s, Pread(), pageCase, c.Threads.Or(1)[0])
			if change != nil {
				change(&r)
			}
			running, err := s.open(r)
			if err == nil {
				err = running.close()
			}
			return err
		}
	}
	for _, tc := range []struct {
		settings []string
		do       func(*testing.T, *Config) error
		want     []string
	}{
		{[]string{"FILE=" + filepath.Join(dir, "nowhere")}, row("hot", nil), []string{`READBENCH_FILE="` + filepath.Join(dir, "nowhere") + `"`, "no such file", "mkfile"}},
		{[]string{"FILE=" + small, "SIZE=2MiB"}, row("hot", nil), []string{`READBENCH_SIZE="2MiB"`, "1048576 bytes"}},
		{[]string{"FILE=" + small, "READ_SIZE=1MiB"}, row("hot", nil), []string{`READBENCH_READ_SIZE="1MiB"`, "too few for reads"}},
		{[]string{"FILE=" + small, "SEED=3"}, row("hot", nil), []string{`READBENCH_SEED="3"`, "of seed 1"}},
		{[]string{"FILE=" + small, "THREADS=8", "READS_PER_OP=100"}, row("cold", nil), []string{`READBENCH_THREADS="8"`, `READBENCH_READS_PER_OP="100"`, "800 different places"}},
		{[]string{"FILE=" + small, "LIMIT=64MiB"}, row("pressure200", nil), []string{`READBENCH_LIMIT="64MiB"`, "1048576"}},
		{[]string{"FILE=" + small, "CASES=mixed10"}, row("mixed10", func(r *Row) { r.Order = OrderSequential }), []string{`READBENCH_CASES="mixed10"`, "random reads only"}},
		{[]string{"FILE=" + small, "SETUP_TIMEOUT=1ns"}, func(t *testing.T, c *Config) error {
			ctx, cancel := (&Suite{config: c}).setupContext()
			defer cancel()
			<-ctx.Done()
			return c.deadline(ctx, ctx.Err())
		}, []string{`READBENCH_SETUP_TIMEOUT="1ns"`, context.DeadlineExceeded.Error()}},
	} {
		t.Run(strings.Join(tc.settings[len(tc.settings)-1:], ""), func(t *testing.T) {
			var environ []string
			for _, s := range append(tc.settings, "WARMUP=0s") {
				environ = append(environ, EnvPrefix+s)
			}
			c, err := Load(environ)
			if err != nil {
				t.Fatal(err)
			}
			err = tc.do(t, c)
			for _, want := range tc.want {
				wantError(t, err, want)
			}
		})
	}
}

// A cache directory that cannot be used is the fault of no variable of ours; a file that is too large for its disk is.
func TestDefaultFileRefused(t *testing.T) {
	huge, err := Load([]string{"READBENCH_SIZE=1048576TiB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	_, err = OpenFile(t.Context(), huge)
	wantError(t, err, `READBENCH_SIZE="1048576TiB": `)
	t.Setenv("XDG_CACHE_HOME", os.DevNull)
	c, err := Load([]string{"READBENCH_SIZE=4MiB"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenFile(t.Context(), c); err == nil || strings.Contains(err.Error(), "READBENCH_FILE=") || strings.Contains(err.Error(), "READBENCH_SIZE=") {
		t.Errorf("error %v", err)
	}
}
