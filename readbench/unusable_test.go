package readbench

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/files"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategies"
	"github.com/readbench/suite/readbench/strategy"
)

// What is well-formed and cannot be used where it is needed is an error that names the variable and the value.
func TestUnusableValues(t *testing.T) {
	dir := t.TempDir()
	small := filepath.Join(dir, "small")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: small, Size: 1 << 20, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	row := func(pageCase string, change func(*Row)) func(*testing.T, *config.Config) error {
		return func(t *testing.T, c *config.Config) error {
			f, err := files.Open(t.Context(), c, false)
			if err != nil {
				return err
			}
			s, err := newSuite(c, io.Discard, files.Set{f})
			if err != nil {
				return err
			}
			defer s.close()
			r := randomRow(s, strategies.Pread(), pageCase, c.Threads.Or(1)[0])
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
		do       func(*testing.T, *config.Config) error
		want     []string
	}{
		{[]string{"FILE=" + filepath.Join(dir, "nowhere")}, row("hot", nil), []string{`READBENCH_FILE="` + filepath.Join(dir, "nowhere") + `"`, "no such file", "mkfile"}},
		{[]string{"FILE=" + small, "SIZE=2MiB"}, row("hot", nil), []string{`READBENCH_SIZE="2MiB"`, "1048576 bytes"}},
		{[]string{"FILE=" + small, "READ_SIZE=1MiB"}, row("hot", nil), []string{`READBENCH_READ_SIZE="1MiB"`, "too few for reads"}},
		{[]string{"FILE=" + small, "SEED=3"}, row("hot", nil), []string{`READBENCH_SEED="3"`, "of seed 1"}},
		{[]string{"FILE=" + small, "THREADS=8", "READS_PER_OP=100"}, row("cold", nil), []string{`READBENCH_THREADS="8"`, `READBENCH_READS_PER_OP="100"`, "800 different places"}},
		{[]string{"FILE=" + small, "LIMIT=64MiB"}, row("pressure200", nil), []string{`READBENCH_LIMIT="64MiB"`, "1048576"}},
		{[]string{"FILE=" + small, "CASES=mixed10"}, row("mixed10", func(r *Row) { r.Order = strategy.OrderSequential }), []string{`READBENCH_CASES="mixed10"`, "random reads only"}},
		{[]string{"FILE=" + small, "SETUP_TIMEOUT=1ns"}, func(t *testing.T, c *config.Config) error {
			ctx, cancel := c.SetupContext()
			defer cancel()
			<-ctx.Done()
			return c.Deadline(ctx, ctx.Err())
		}, []string{`READBENCH_SETUP_TIMEOUT="1ns"`, context.DeadlineExceeded.Error()}},
	} {
		t.Run(strings.Join(tc.settings[len(tc.settings)-1:], ""), func(t *testing.T) {
			var environ []string
			for _, s := range append(tc.settings, "WARMUP=0s") {
				environ = append(environ, config.EnvPrefix+s)
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
