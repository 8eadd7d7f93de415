package config

import (
	"errors"
	"strings"
	"testing"
)

// Any variable can be named as the cause, with its value as it was set.
func TestBlame(t *testing.T) {
	environ := []string{
		"READBENCH_FILE=/dev/nvme 0n1", "READBENCH_SIZE=2GiB", "READBENCH_READ_SIZE=4KiB,1MiB", "READBENCH_WINDOW=1MiB", "READBENCH_DEPTH=32", "READBENCH_LIMIT=4GiB", "READBENCH_READS_PER_OP=1", "READBENCH_THREADS=2,3",
		"READBENCH_CASES=cold,mixed10", "READBENCH_WARMUP=1.5s", "READBENCH_SEED=7", "READBENCH_PROCS=inherit", "READBENCH_VERIFY=full", "READBENCH_METRICS=all",
		"READBENCH_SETUP_TIMEOUT=10m", "READBENCH_SHARE=go", "READBENCH_TURNS=true", "READBENCH_POLICIES=adaptive,none", "READBENCH_PROBE=mincore", "READBENCH_HINT=madvise",
		"READBENCH_LUCENE_INDEX=/index", "READBENCH_LUCENE_CHECK=full", "READBENCH_DOCS=10", "READBENCH_DOC_SIZE=1KiB", "READBENCH_DOC_TEXT=json", "READBENCH_SKEW=zipf", "READBENCH_TOPK=1,2",
		"READBENCH_DIM=8", "READBENCH_VECTORS=9", "READBENCH_ALIGN=packed", "READBENCH_SHORTLIST=7", "READBENCH_RATES=100,7", "READBENCH_HANDLERS=3", "READBENCH_QUEUE=4", "READBENCH_SLA_P99=1ms", "READBENCH_SLA_STEP=1h",
	}
	c, err := Load(environ, nil)
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
	unset, err := Load(nil, nil)
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
