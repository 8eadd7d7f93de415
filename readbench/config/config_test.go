package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDefaults(t *testing.T) {
	got, err := Load([]string{"PATH=/bin", "HOME=/root", "READBENCHER=x"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Cases: CaseList{"hot", "cold"}, Window: 2 << 20,
		Warmup: 200 * time.Millisecond, Seed: 1, Procs: ProcsThreads, Verify: VerifyPages, Metrics: MetricsDefault, SetupTimeout: 10 * time.Minute, Share: ShareWait,
		LuceneCheck: LuceneCheckEnds, DocSize: 4 << 10, DocText: DocTextRandom, Skew: SkewUniform, TopK: CountList{10, 100},
		Dim: 1024, Align: AlignPage, Shortlist: 350, Handlers: 32, Queue: 32, SLAP99: 50 * time.Millisecond, SLAStep: 2 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An empty value is as good as none: scripts often set variables to nothing.
func TestEmptyValues(t *testing.T) {
	var empty []string
	for _, f := range fields() {
		empty = append(empty, f.name+"=")
	}
	want, _ := Load(nil, nil)
	got, err := Load(empty, nil)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestEveryVariable(t *testing.T) {
	got, err := Load([]string{
		"READBENCH_FILE=/dev/nvme0n1", "READBENCH_SIZE=2GiB", "READBENCH_READ_SIZE=4096, 1MiB", "READBENCH_WINDOW=1MiB", "READBENCH_DEPTH=32", "READBENCH_LIMIT=4GiB", "READBENCH_READS_PER_OP=1", "READBENCH_THREADS=2, 3",
		"READBENCH_CASES=cold", "READBENCH_WARMUP=1s", "READBENCH_SEED=7", "READBENCH_PROCS=inherit", "READBENCH_VERIFY=full", "READBENCH_METRICS=all",
		"READBENCH_SETUP_TIMEOUT=1h", "READBENCH_SHARE=share", "READBENCH_TURNS=true", "READBENCH_POLICIES=adaptive, none", "READBENCH_PROBE=mincore", "READBENCH_HINT=process_madvise",
		"READBENCH_LUCENE_INDEX=/index", "READBENCH_LUCENE_CHECK=full", "READBENCH_DOCS=10", "READBENCH_DOC_SIZE=1KiB", "READBENCH_DOC_TEXT=json", "READBENCH_SKEW=zipf", "READBENCH_TOPK=1, 2",
		"READBENCH_DIM=8", "READBENCH_VECTORS=9", "READBENCH_ALIGN=packed", "READBENCH_SHORTLIST=7", "READBENCH_RATES=100", "READBENCH_HANDLERS=3", "READBENCH_QUEUE=4", "READBENCH_SLA_P99=1ms", "READBENCH_SLA_STEP=1s",
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		File: "/dev/nvme0n1", Size: 2 << 30, ReadSize: SizeList{4096, 1 << 20}, Window: 1 << 20, Depth: 32, Limit: 4 << 30, ReadsPerOp: 1, Threads: ThreadList{2, 3}, Cases: CaseList{"cold"},
		Warmup: time.Second, Seed: 7, Procs: ProcsInherit, Verify: VerifyFull, Metrics: MetricsAll, SetupTimeout: time.Hour, Share: ShareShare, Turns: true,
		Policies: PolicyList{"adaptive", "none"}, Probe: "mincore", Hint: "process_madvise",
		LuceneIndex: "/index", LuceneCheck: LuceneCheckFull, Docs: 10, DocSize: 1 << 10, DocText: DocTextJSON, Skew: SkewZipf, TopK: CountList{1, 2},
		Dim: 8, Vectors: 9, Align: AlignPacked, Shortlist: 7, Rates: CountList{100}, Handlers: 3, Queue: 4, SLAP99: time.Millisecond, SLAStep: time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := reflect.TypeFor[Config]().NumField(); n != 36 {
		t.Errorf("Config has %d fields: set the new one here, too", n)
	}
}

// Each error names the variable, its value, and what would be right. There is a wrong value of every variable, but of those
// that take any text.
func TestBadConfig(t *testing.T) {
	cases := []struct {
		env  string
		want []string
	}{
		{"READBENCH_READSIZE=4096", []string{`READBENCH_READSIZE="4096"`, "no such variable", "READBENCH_READ_SIZE"}},
		{"READBENCH_=1", []string{`READBENCH_="1"`, "no such variable"}},
		{"READBENCH_READ_SIZE=16k", []string{`READBENCH_READ_SIZE="16k"`, "16KiB"}},
		{"READBENCH_READ_SIZE=0", []string{`READBENCH_READ_SIZE="0"`, "1 byte"}},
		{"READBENCH_READ_SIZE=2GiB", []string{`READBENCH_READ_SIZE="2GiB"`, "1GiB"}},
		{"READBENCH_SIZE=4097", []string{`READBENCH_SIZE="4097"`, "multiple of 4KiB"}},
		{"READBENCH_SIZE=0", []string{`READBENCH_SIZE="0"`, "more than 0"}},
		{"READBENCH_SIZE=huge", []string{`READBENCH_SIZE="huge"`, "1GiB"}},
		{"READBENCH_READ_SIZE=4KiB,2GiB", []string{`READBENCH_READ_SIZE="4KiB,2GiB"`, "1GiB, and not 2GiB"}},
		{"READBENCH_READ_SIZE=2GiB", []string{`READBENCH_READ_SIZE="2GiB"`, `READBENCH_SIZE="1GiB"`}},
		{"READBENCH_READ_SIZE=4KiB,4096", []string{`READBENCH_READ_SIZE="4KiB,4096"`, "twice"}},
		{"READBENCH_LIMIT=0", []string{`READBENCH_LIMIT="0"`, "more than 0"}},
		{"READBENCH_WINDOW=0", []string{`READBENCH_WINDOW="0"`, "1 byte"}},
		{"READBENCH_DEPTH=0", []string{`READBENCH_DEPTH="0"`, "at least 1"}},
		{"READBENCH_DEPTH=1025", []string{`READBENCH_DEPTH="1025"`, "1 to 1024"}},
		{"READBENCH_READS_PER_OP=0", []string{`READBENCH_READS_PER_OP="0"`, "at least 1"}},
		{"READBENCH_READS_PER_OP=many", []string{`READBENCH_READS_PER_OP="many"`}},
		{"READBENCH_THREADS=0", []string{`READBENCH_THREADS="0"`, "1,4,8,16"}},
		{"READBENCH_THREADS=1,,2", []string{`READBENCH_THREADS="1,,2"`}},
		{"READBENCH_THREADS=4,4", []string{`READBENCH_THREADS="4,4"`, "twice"}},
		{"READBENCH_CASES=hot,hot", []string{`READBENCH_CASES="hot,hot"`, "twice"}},
		{"READBENCH_POLICIES=adaptiv", []string{`READBENCH_POLICIES="adaptiv"`, "none, always, loaded", "adaptive"}},
		{"READBENCH_POLICIES=none,,always", []string{`READBENCH_POLICIES="none,,always"`, `no prefetch policy ""`}},
		{"READBENCH_POLICIES=none, none", []string{`READBENCH_POLICIES="none, none"`, "twice"}},
		{"READBENCH_PROBE=fincore", []string{`READBENCH_PROBE="fincore"`, "cachestat", "mincore"}},
		{"READBENCH_HINT=readahead", []string{`READBENCH_HINT="readahead"`, "fadvise", "process_madvise", "madvise"}},
		{"READBENCH_WARMUP=3", []string{`READBENCH_WARMUP="3"`}},
		{"READBENCH_WARMUP=-1s", []string{`READBENCH_WARMUP="-1s"`, "0s to 1h"}},
		{"READBENCH_SETUP_TIMEOUT=0s", []string{`READBENCH_SETUP_TIMEOUT="0s"`, "above zero"}},
		{"READBENCH_SEED=x", []string{`READBENCH_SEED="x"`}},
		{"READBENCH_PROCS=all", []string{`READBENCH_PROCS="all"`, "threads", "inherit"}},
		{"READBENCH_VERIFY=none", []string{`READBENCH_VERIFY="none"`, "pages", "full"}},
		{"READBENCH_DOCS=0", []string{`READBENCH_DOCS="0"`, "at least 1"}},
		{"READBENCH_VECTORS=-1", []string{`READBENCH_VECTORS="-1"`, "1 to"}},
		{"READBENCH_DOC_SIZE=2GiB", []string{`READBENCH_DOC_SIZE="2GiB"`, "1GiB"}},
		{"READBENCH_DOC_TEXT=xml", []string{`READBENCH_DOC_TEXT="xml"`, "random", "json"}},
		{"READBENCH_LUCENE_CHECK=some", []string{`READBENCH_LUCENE_CHECK="some"`, "ends", "full"}},
		{"READBENCH_SKEW=steep", []string{`READBENCH_SKEW="steep"`, "uniform", "zipf"}},
		{"READBENCH_TOPK=0", []string{`READBENCH_TOPK="0"`, "10,100"}},
		{"READBENCH_TOPK=5,5", []string{`READBENCH_TOPK="5,5"`, "twice"}},
		{"READBENCH_DIM=0", []string{`READBENCH_DIM="0"`, "1 to"}},
		{"READBENCH_ALIGN=4096", []string{`READBENCH_ALIGN="4096"`, "page", "packed"}},
		{"READBENCH_SHORTLIST=0", []string{`READBENCH_SHORTLIST="0"`, "1 to"}},
		{"READBENCH_HANDLERS=0", []string{`READBENCH_HANDLERS="0"`, "1 to"}},
		{"READBENCH_QUEUE=-1", []string{`READBENCH_QUEUE="-1"`, "0 to"}},
		{"READBENCH_SLA_P99=0s", []string{`READBENCH_SLA_P99="0s"`, "above zero"}},
		{"READBENCH_SLA_STEP=2h", []string{`READBENCH_SLA_STEP="2h"`, "up to 1h"}},
		{"READBENCH_TURNS=maybe", []string{`READBENCH_TURNS="maybe"`}},
		{"READBENCH_SHARE=yes", []string{`READBENCH_SHARE="yes"`, "wait", "go", "share"}},
		{"READBENCH_METRICS=some", []string{`READBENCH_METRICS="some"`, "default", "all"}},
		{"READBENCH_RATES=0", []string{`READBENCH_RATES="0"`, "10,100"}},
	}
	for _, f := range fields() {
		if !slices.ContainsFunc(cases, func(c struct {
			env  string
			want []string
		}) bool {
			return strings.HasPrefix(c.env, f.name+"=")
		}) && f.name != "READBENCH_FILE" && f.name != "READBENCH_LUCENE_INDEX" {
			t.Errorf("there is no wrong value of %s", f.name)
		}
	}
	for _, tc := range cases {
		t.Run(tc.env, func(t *testing.T) {
			c, err := Load([]string{tc.env}, nil)
			if err == nil {
				t.Fatalf("accepted: %+v", c)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is missing in: %v", want, err)
				}
			}
		})
	}
}

// Whoever knows the cases says what is wrong with the name of one; each of a list is asked about.
func TestCasesAreChecked(t *testing.T) {
	check := func(name string) error {
		if name != "hot" {
			return errors.New(name + " is no case; there is hot")
		}
		return nil
	}
	for value, want := range map[string][]string{
		"hot":              nil,
		"lukewarm":         {`READBENCH_CASES="lukewarm": lukewarm is no case; there is hot`},
		"hot,tepid,frozen": {`READBENCH_CASES="hot,tepid,frozen": tepid is no case`, `READBENCH_CASES="hot,tepid,frozen": frozen is no case`},
	} {
		c, err := Load([]string{"READBENCH_CASES=" + value}, check)
		if (err != nil) != (want != nil) || (c == nil) != (want != nil) {
			t.Errorf("%q: %+v, %v", value, c, err)
		}
		for _, w := range want {
			if err != nil && !strings.Contains(err.Error(), w) {
				t.Errorf("%q is missing in: %v", w, err)
			}
		}
	}
}

func TestAllErrorsAtOnce(t *testing.T) {
	_, err := Load([]string{"READBENCH_WARMUP=x", "READBENCH_SEED=y", "READBENCH_TREADS=1"}, nil)
	for _, name := range []string{"READBENCH_WARMUP", "READBENCH_SEED", "READBENCH_TREADS"} {
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s is missing in: %v", name, err)
		}
	}
}

// Nothing that can stand in an environment makes the parser panic, and what it accepts obeys the rules.
func FuzzLoad(f *testing.F) {
	f.Add("READBENCH_READ_SIZE=16KiB", "READBENCH_THREADS=1,2")
	f.Add("READBENCH_CASES=hot,cold", "READBENCH_SIZE=4KiB")
	f.Add("READBENCH_X", "READBENCH_=\x00")
	f.Fuzz(func(t *testing.T, a, b string) {
		c, err := Load([]string{a, b}, nil)
		if err != nil {
			return
		}
		if len(c.Cases) == 0 || c.ReadsPerOp < 0 || c.Size < 0 || c.Window < 1 || c.SetupTimeout <= 0 {
			t.Fatalf("%q and %q are accepted as %+v", a, b, c)
		}
		for _, n := range c.ReadSize {
			if n < 1 {
				t.Fatalf("%q and %q: a read of %d bytes", a, b, n)
			}
		}
	})
}
