// Package benchtest runs the benchmarks of a test binary in a process of their own, as a user would, and reads what
// they write.
package benchtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"github.com/readbench/suite/internal/testfile"
)

// A User runs benchmark processes, with a cache directory of their own that is empty at first.
type User struct{ cache string }

// NewUser makes a user for the length of a test; TMPDIR says where, and must be on a disk.
func NewUser(t *testing.T) User {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	return User{dir}
}

// Benchmark runs this test binary with READBENCH_ settings (without the prefix) and test flags, and returns what it wrote.
func (u User) Benchmark(t *testing.T, settings []string, flags ...string) (stdout, stderr string, exit int) {
	t.Helper()
	cmd := u.Command(settings, flags...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	var exitErr *exec.ExitError
	if err != nil && !errors.As(err, &exitErr) {
		t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// Command is what Benchmark runs.
func (u User) Command(settings []string, flags ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], append([]string{"-test.run=^$"}, flags...)...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "READBENCH_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "XDG_CACHE_HOME="+u.cache, "READBENCH_WARMUP=1ms")
	for _, s := range settings {
		cmd.Env = append(cmd.Env, "READBENCH_"+s)
	}
	return cmd
}

// Parse reads benchmark format strictly: every line is a result, a configuration line, a unit line, or one of
// the testing package's own.
func Parse(t *testing.T, text string) (results []*benchfmt.Result, units benchfmt.UnitMetadataMap) {
	t.Helper()
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		key, _, isConfig := strings.Cut(line, ": ")
		isConfig = isConfig && key == strings.ToLower(key) && !strings.ContainsAny(key, " \t#")
		if line != "PASS" && !isConfig && !strings.HasPrefix(line, "Benchmark") && !strings.HasPrefix(line, "Unit ") {
			t.Errorf("standard output has the line %q", line)
		}
	}
	r := benchfmt.NewReader(strings.NewReader(text), "stdout")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.Result:
			results = append(results, rec.Clone())
		case *benchfmt.SyntaxError:
			t.Error(rec)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return results, r.Units()
}

// Rows are the results by name, without the number of processors at the end of it.
func Rows(results []*benchfmt.Result) map[string]*benchfmt.Result {
	rows := map[string]*benchfmt.Result{}
	for _, r := range results {
		name := string(r.Name.Full())
		if i := strings.LastIndexByte(name, '-'); i > 0 && !strings.Contains(name[i:], "/") && !strings.Contains(name[i:], "=") {
			name = name[:i]
		}
		rows[name] = r
	}
	return rows
}

// Value is a result's number of a unit, as benchfmt has it: "sec/op" for ns/op.
func Value(t *testing.T, r *benchfmt.Result, unit string) float64 {
	t.Helper()
	v, ok := r.Value(unit)
	if !ok {
		t.Errorf("%s has no %s", r.Name, unit)
	}
	return v
}

// Skipped are the rows that standard error says were skipped, by name as in Rows, each with the cause that its line has.
func Skipped(stderr string) map[string]string {
	rows := map[string]string{}
	for line := range strings.Lines(stderr) {
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "# readbench: skip")
		if !ok {
			continue
		}
		if m := severalSkipped.FindStringSubmatch(text); m != nil {
			for pattern := range strings.SplitSeq(m[2], ", ") {
				for _, row := range expand(pattern) {
					rows[strings.TrimPrefix(row, "Benchmark")] = m[1]
				}
			}
			continue
		}
		row, cause, _ := strings.Cut(strings.TrimSpace(text), ": ")
		rows[strings.TrimPrefix(row, "Benchmark")] = cause
	}
	return rows
}

var (
	severalSkipped = regexp.MustCompile(`^: (.*): [0-9]+ rows in all: (.*)$`)
	alternatives   = regexp.MustCompile(`\(([^)]*)\)`)
)

// expand lists the names that a pattern such as Benchmark(Mmap|Pread)/threads=(1|2) stands for.
func expand(pattern string) (names []string) {
	at := alternatives.FindStringSubmatchIndex(pattern)
	if at == nil {
		return []string{pattern}
	}
	for form := range strings.SplitSeq(pattern[at[2]:at[3]], "|") {
		names = append(names, expand(pattern[:at[0]]+form+pattern[at[1]:])...)
	}
	return names
}
