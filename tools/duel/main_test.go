package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/readbench/suite/internal/duel/dueltest"
)

// runVar has this test binary be duel itself.
const runVar = "DUEL_TEST_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runVar) == "" || hasTestFlags() {
		dueltest.Main()
	} else {
		os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// hasTestFlags reports whether this is a contestant, which duel has started, and not duel.
func hasTestFlags() bool {
	return len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.")
}

var pair = []dueltest.Row{
	{Name: "BenchmarkA/case=hot/threads=1", Factor: 1}, {Name: "BenchmarkB/case=hot/threads=1", Factor: 0.7},
	{Name: "BenchmarkA/case=cold/threads=1", Factor: 1}, {Name: "BenchmarkB/case=cold/threads=1", Factor: 1.5},
}

// A process is duel in a process of its own, with a directory for its temporary files, whose contestants are fakes.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	fake           dueltest.Fake
	temp           string
}

func start(t *testing.T, rows []dueltest.Row, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...), fake: dueltest.Fake{Rows: rows, Dir: t.TempDir()}, temp: t.TempDir()}
	p.Env = append(p.fake.Environ(), runVar+"=1", "TMPDIR="+p.temp)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for its end and returns the exit status. Neither a process nor a file is left.
func (p *process) end(t *testing.T) int {
	t.Helper()
	if err := p.Wait(); err != nil && p.ProcessState == nil {
		t.Fatal(err)
	}
	if files, err := os.ReadDir(p.temp); err != nil || len(files) > 0 {
		t.Errorf("files %v are left, error %v", files, err)
	}
	return p.ProcessState.ExitCode()
}

// Command lines, what they print, and the exit status.
func TestCommandLines(t *testing.T) {
	self := os.Args[0]
	copied := filepath.Join(t.TempDir(), "copy.test")
	if err := os.Link(self, copied); err != nil {
		t.Skip(err)
	}
	with := func(mode dueltest.Mode) []dueltest.Row {
		return []dueltest.Row{pair[0], {Name: pair[1].Name, Factor: 1, Mode: mode}}
	}
	for _, tc := range []struct {
		name           string
		rows           []dueltest.Row
		args           string
		status         int
		stdout, stderr string // regular expressions
	}{
		{"two functions", pair, "-bench A -against kB " + self, 0,
			`^case=hot/threads=1: A is 1\.\d+× B .*\ncase=cold/threads=1: B is 1\.\d+× A .*\n\nduel +contestant(.*\n){3}$`, `^$`},
		{"a value each", pair[:1], self + " -vary READBENCH_HINT=x,y -budget 1ms", 0, `^A/case=hot/threads=1: not decided: .*HINT=x .*HINT=y`, `^$`},
		{"two binaries", pair[:1], self + " " + copied + " -bench A -budget 1ms", 0, `A/case=hot/threads=1: not decided: .*duel\.test .*copy\.test`, `^$`},
		{"a race", pair, "-race " + self, 0, `(?s)^case=hot/threads=1: A is the fastest.*case=cold/threads=1: B is the fastest`, `^$`},
		{"bench", pair[:2], "-format bench -bench A -against kB " + self, 0, `^(BenchmarkDuel/case=hot/threads=1/contestant=[AB] \d+ [\d.]+ ns/op [\d.]+ ops/ms\n)+$`, `^$`},
		{"json", pair[:2], "-json -bench A -against kB " + self, 0, `^{\n\t"level": 0.05,\n(.*\n)*.*"outcome": "faster"`, `^$`},
		{"skipped", with(dueltest.Skip), "-bench A -against kB " + self, 0, `: skipped\n  skipped: B: io_uring`, `^$`},
		{"failed", with(dueltest.FailEnd), "-bench A -against kB " + self, 1, `: failed: no verdict\n  failed: B: the device`, `^$`},
		{"another version", with(dueltest.WrongVersion), "-bench A -against kB " + self, 2, `^$`, `^duel: .*: it speaks version 2`},
		{"no row", pair, "-bench A -against Z " + self, 2, `^$`, `no row matches -bench "Z"`},
		{"no partner", []dueltest.Row{pair[0], pair[3]}, "-bench A -against kB " + self, 2, `^$`, `nothing to compare with BenchmarkA/case=hot/threads=1(.*\n)+duel: no two rows belong together\n$`},
		{"no package", pair, "-race ./nowhere", 2, `^$`, `^duel: ./nowhere is neither a file nor a package: `},
		{"a package without rows", pair, "-race ../../internal/turns", 2, `^$`, `^duel: \.\./\.\./internal/turns: no row matches -bench "\.", or it is no test binary`},
		{"several packages", pair, "-race ../...", 2, `^$`, `^duel: \.\./\.\.\. are \d+ packages: name one`},
		{"nothing", pair, "", 2, `^$`, `^duel: a package or a test binary is wanted`},
		{"one contestant", pair, self, 2, `^$`, `^duel: one contestant is no duel`},
		{"two differences", pair, "-against kB -vary A=1,2 " + self, 2, `^$`, `^duel: contestants differ in one thing only`},
		{"one value", pair, "-vary A=1 " + self, 2, `^$`, `^duel: -vary "A=1": NAME=VALUE,VALUE`},
		{"bad part", pair, "-resolve 1x " + self, 2, `^$`, `-resolve: a part from 0% to less than 100%`},
		{"level 0", pair, "-race -level 0 " + self, 2, `^$`, `-level is above 0%`},
		{"bad format", pair, "-race -format xml " + self, 2, `^$`, `-format is text, bench or json, and not "xml"`},
		{"turn too short", pair, "-race -turn 1us " + self, 2, `^$`, `-turn is from 100µs to 1m, and not 1µs`},
		{"help", pair, "-h", 0, `(?s)^Duel says.*exit status.*-resolve part\n.*default 1%`, `^$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p := start(t, tc.rows, strings.Fields(tc.args)...)
			status := p.end(t)
			if status != tc.status || !regexp.MustCompile(tc.stdout).Match(p.stdout.Bytes()) || !regexp.MustCompile(tc.stderr).Match(p.stderr.Bytes()) {
				t.Errorf("exit status %d, want %d\nstdout %.2000q\nstderr %.2000q", status, tc.status, p.stdout.String(), p.stderr.String())
			}
		})
	}
}

// With -o the file gets the format, and standard output the words.
func TestOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.json")
	p := start(t, pair[:2], "-bench=A", "-against=kB", "-json", "-o", file, os.Args[0])
	if status := p.end(t); status != 0 || !strings.HasPrefix(p.stdout.String(), "case=hot/threads=1: A is 1.") {
		t.Errorf("exit status %d, %q, %q", status, &p.stdout, &p.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r report
	if err := json.Unmarshal(text, &r); err != nil || len(r.Duels) != 1 || r.Duels[0].Outcome != "faster" || r.Duels[0].Contestants[0].Label != "A" {
		t.Errorf("%+v, error %v", r, err)
	}
}

// However duel is ended, no contestant stays, not even one that hangs; a signal that can be caught leaves no file either.
func TestEnded(t *testing.T) {
	for _, mode := range []dueltest.Mode{"", dueltest.HangSetup, dueltest.Deaf} {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL} {
			t.Run(string(mode)+" "+signal.String(), func(t *testing.T) {
				t.Parallel()
				rows := []dueltest.Row{pair[0], {Name: pair[1].Name, Factor: 1, Mode: mode}}
				p := start(t, rows, "-budget=1h", "-resolve=0", "-bench=A", "-against=kB", os.Args[0])
				for p.living(t) < 2 {
					time.Sleep(10 * time.Millisecond)
				}
				if err := p.Process.Signal(signal); err != nil {
					t.Fatal(err)
				}
				if signal == syscall.SIGKILL {
					p.Wait()
				} else if status := p.end(t); status != 130 || !strings.HasSuffix(p.stderr.String(), "duel: interrupted\n") {
					t.Errorf("exit status %d, %q", status, &p.stderr)
				}
				if left := p.fake.Living(t); left != nil {
					t.Errorf("processes %d are left", left)
				}
			})
		}
	}
}

// living is how many contestants there are.
func (p *process) living(t *testing.T) (n int) {
	t.Helper()
	files, err := os.ReadDir(p.fake.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if pid, err := strconv.Atoi(f.Name()); err == nil && syscall.Kill(pid, 0) == nil {
			n++
		}
	}
	return n
}
