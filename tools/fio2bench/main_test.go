package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/perf/benchfmt"
)

const recorded = "testdata/recorded.json" // by fio 3.33, from recorded.fio

// good is a job of two processes that read for a second each, 4000 times in all, with 0.5 s of processor time in all.
const good = `{"jobname":"Pread/threads=2","groupid":0,"error":0,"job_runtime":2000,"usr_cpu":5,"sys_cpu":20,` +
	`"read":{"total_ios":4000,"iops":4000,"bw_bytes":65536000},"write":{"total_ios":0},"trim":{"total_ios":0}}`

const goodLine = "BenchmarkFioPread/threads=2\t4000\t4000000 ns/op\t65.5360 MB/s\t0.250000 ops/ms\t2000000 cpu-ns/op\n"

func doc(jobs ...string) string {
	return `{"fio version":"fio-3.33","jobs":[` + strings.Join(jobs, ",") + "]}\n"
}

// with returns the good job with parts replaced: old, new, old, new, …
func with(oldnew ...string) string { return strings.NewReplacer(oldnew...).Replace(good) }

func TestRun(t *testing.T) {
	t.Parallel()
	const group1 = `"groupid":1`
	for name, c := range map[string]struct {
		args   []string
		stdin  string
		code   int
		stdout string   // without the unit lines
		stderr []string // parts of it
	}{
		"good":           {stdin: doc(good), stdout: goodLine},
		"two documents":  {stdin: doc(good) + doc(good), stdout: goodLine + goodLine},
		"notes":          {stdin: "note: both iodepth >= 1 and …\nnote: again\n" + doc(good), stdout: goodLine},
		"reads":          {args: []string{"-reads", "1"}, stdin: doc(good), stdout: "BenchmarkFioPread/threads=2\t4000\t250000 ns/op\t65.5360 MB/s\t4.00000 ops/ms\t125000 cpu-ns/op\n"},
		"no cpu time":    {stdin: doc(with(`_cpu":5`, `_cpu":0`, `_cpu":20`, `_cpu":0`)), code: 1, stderr: []string{"cpu-ns/op would be 0", "too short"}},
		"zero ios":       {stdin: doc(with(`"total_ios":4000`, `"total_ios":0`), with(`"groupid":0`, group1)), code: 1, stdout: goodLine, stderr: []string{`standard input: job "Pread/threads=2" left out`, "read nothing"}},
		"zero iops":      {stdin: doc(with(`"iops":4000`, `"iops":0`)), code: 1, stderr: []string{"ns/op would be +Inf"}},
		"no iops":        {stdin: doc(with(`"iops":4000,`, ``)), code: 1, stderr: []string{"no iops"}},
		"no cpu":         {stdin: doc(with(`"sys_cpu":20,`, ``)), code: 1, stderr: []string{"sys_cpu"}},
		"failed job":     {stdin: doc(with(`"error":0`, `"error":5`)), code: 1, stderr: []string{"error 5"}},
		"writes":         {stdin: doc(with(`"write":{"total_ios":0`, `"write":{"total_ios":7`)), code: 1, stderr: []string{"7 and 0 times"}},
		"not grouped":    {stdin: doc(good, good), code: 1, stderr: []string{"group_reporting"}},
		"at once":        {stdin: doc(good, with("Pread/", "Mmap/")), code: 1, stderr: []string{`job "Mmap/threads=2" left out`, `same time as job "Mmap/threads=2"`, "stonewall"}},
		"in turn":        {stdin: doc(good, with(`"groupid":0`, group1)), stdout: goodLine + goodLine},
		"no name":        {stdin: doc(with("Pread/threads=2", "")), code: 1, stderr: []string{"no name"}},
		"name, space":    {stdin: doc(with("Pread/", "P read/")), code: 1, stderr: []string{"space"}},
		"name, procs":    {stdin: doc(with("threads=2", "x-2")), code: 1, stderr: []string{"GOMAXPROCS"}},
		"name, long":     {stdin: doc(with("Pread", strings.Repeat("P", 2000))), code: 1, stderr: []string{"longer than"}},
		"empty":          {code: 1, stderr: []string{"standard input: it is empty"}},
		"message":        {stdin: "fio: pid=7, err=2\n" + doc(good), code: 1, stderr: []string{"fio: pid=7", "--output=FILE"}},
		"text output":    {stdin: doc(good) + "Run status group 0", code: 1, stdout: goodLine, stderr: []string{"Run status", "--output-format=json"}},
		"cut":            {stdin: doc(good)[:90], code: 1, stderr: []string{"ends in the middle"}},
		"wrong type":     {stdin: doc(with(`"iops":4000`, `"iops":"many"`)), code: 1, stderr: []string{"standard input: not the JSON that fio writes", "iops"}},
		"other JSON":     {stdin: `{"a":1}`, code: 1, stderr: []string{"without jobs"}},
		"missing file":   {args: []string{"testdata/none.json", recorded}, code: 1, stdout: "recorded", stderr: []string{"testdata/none.json"}},
		"recorded":       {args: []string{recorded}, stdout: "recorded"},
		"help":           {args: []string{"-h"}, stderr: []string{"usage:"}},
		"bad flag":       {args: []string{"-x"}, code: 2, stderr: []string{"-x", "usage:"}},
		"bad reads":      {args: []string{"-reads", "0"}, code: 2, stderr: []string{"-reads 0"}},
		"too many reads": {args: []string{"-reads", "65537"}, code: 2, stderr: []string{"65536"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(c.args, strings.NewReader(c.stdin), &stdout, &stderr); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			want := c.stdout
			if want == "recorded" {
				want = recordedLines
			}
			if want != "" {
				want = unitLines + want
			}
			if diff := cmp.Diff(want, stdout.String()); diff != "" {
				t.Errorf("stdout (-want +got):\n%s", diff)
			}
			for _, part := range c.stderr {
				if !strings.Contains(stderr.String(), part) {
					t.Errorf("stderr lacks %q:\n%s", part, &stderr)
				}
			}
			if len(c.stderr) == 0 && stderr.Len() > 0 {
				t.Errorf("stderr is not empty:\n%s", &stderr)
			}
			if err := parseable(stdout.Bytes()); err != nil {
				t.Error(err)
			}
		})
	}
}

const recordedLines = "BenchmarkFioMmap/case=hot/threads=1\t433021\t18511.8 ns/op\t14160.9 MB/s\t54.0196 ops/ms\t15962.3 cpu-ns/op\n" +
	"BenchmarkFioPread/case=hot/threads=4\t426191\t18846.0 ns/op\t13909.8 MB/s\t53.0616 ops/ms\t36152.8 cpu-ns/op\n"

// parseable returns an error unless every line is a result with all its values, or a unit line, to benchfmt.
func parseable(text []byte) error {
	r := benchfmt.NewReader(bytes.NewReader(text), "stdout")
	records := 0
	for r.Scan() {
		records++
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return rec
		case *benchfmt.Result:
			if !strings.HasPrefix(string(rec.Name), "Fio") || rec.Iters <= 0 {
				return fmt.Errorf("%q has %d iterations", rec.Name, rec.Iters)
			}
			if endsInProcs.Match(rec.Name.Full()) {
				return fmt.Errorf("%q: benchfmt takes its end for GOMAXPROCS", rec.Name)
			}
			for _, unit := range []string{"sec/op", "B/s", "ops/ms", "cpu-sec/op"} {
				if v, ok := rec.Value(unit); !ok || v <= 0 {
					return fmt.Errorf("%s: %s is %v, %v", rec.Name, unit, v, ok)
				}
			}
		}
	}
	if lines := bytes.Count(text, []byte("\n")); records != lines {
		return errors.Join(r.Err(), fmt.Errorf("%d records in %d lines:\n%s", records, lines, text))
	}
	return r.Err()
}

// FuzzConvert feeds anything to the parser: it may refuse it, but what it prints must be benchmark format.
func FuzzConvert(f *testing.F) {
	data, err := os.ReadFile(filepath.FromSlash(recorded))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, 16)
	for _, s := range []string{doc(good), doc(good, good), doc(good) + doc(good), "note: x\n" + doc(good), doc(with("Pread", `\u2028`)),
		doc(with(`"iops":4000`, `"iops":1e-320`)), doc(with(`"bw_bytes":65536000`, `"bw_bytes":1e308`)), doc(with("4000", "-4000")), "note: ", "{", ""} {
		f.Add([]byte(s), 1)
	}
	f.Fuzz(func(t *testing.T, data []byte, reads int) {
		reads = 1 + int(uint(reads)%maxReads)
		rows, errs := convert("fuzz", data, reads)
		if len(rows) == 0 && len(errs) == 0 {
			t.Error("neither a row nor an error")
		}
		if err := parseable([]byte(format(rows))); err != nil {
			t.Error(err)
		}
	})
}
