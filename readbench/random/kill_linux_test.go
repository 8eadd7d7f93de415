package random_test

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/readbench/suite/internal/benchtest"
)

// However a run under pressure ends, its memory-limited group is gone once its standard error has come to an end, and
// the next run is as good as the first.
func TestKilledUnderPressure(t *testing.T) {
	for _, tc := range []struct {
		name   string
		signal os.Signal
	}{
		{"SIGINT", os.Interrupt},
		{"SIGTERM", syscall.SIGTERM},
		{"SIGQUIT", syscall.SIGQUIT}, // what go test -timeout sends
		{"SIGKILL", os.Kill},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := benchtest.NewUser(t)
			settings := []string{"SIZE=256MiB", "CASES=pressure200", "THREADS=1"}
			cmd := u.Command(settings, "-test.bench=MmapRandom$", "-test.benchtime=60s")
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(stderr)
			limited, skipped := false, false
			for lines.Scan() {
				if strings.Contains(lines.Text(), "a limit of") {
					limited = true
					if left := groups(t, cmd); len(left) != 1 {
						t.Errorf("while it runs, its groups are %q", left)
					}
					if err := cmd.Process.Signal(tc.signal); err != nil {
						t.Error(err)
					}
				}
				if strings.Contains(lines.Text(), "# readbench: skip") {
					skipped = true
					defer t.Skip(lines.Text())
				}
			}
			if !limited && !skipped {
				t.Error("it said neither what the limit is nor why there is none")
			}
			if err := cmd.Wait(); err == nil && limited {
				t.Error("it ended without an error")
			}
			for range 50 { // the janitor shares standard error, and is through with it
				if len(groups(t, cmd)) == 0 {
					break
				}
				time.Sleep(100 * time.Millisecond)
			}
			if left := groups(t, cmd); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
			stdout, errOut, exit := u.Benchmark(t, settings, "-test.bench=MmapRandom$", "-test.benchtime=20x")
			if results, _ := benchtest.Parse(t, stdout); exit != 0 || limited && len(results) != 1 {
				t.Errorf("the next run: exit %d\n%s%s", exit, stdout, errOut)
			}
		})
	}
}

// groups are the memory-limited groups of a process.
func groups(t *testing.T, cmd *exec.Cmd) (dirs []string) {
	t.Helper()
	pid := fmt.Sprintf(".%d.", cmd.Process.Pid)
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "readbench.") && strings.Contains(d.Name(), pid) {
			dirs = append(dirs, path)
		}
		return nil // what vanishes meanwhile is none of ours
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}
