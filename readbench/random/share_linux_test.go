package random_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/benchtest"
	"github.com/readbench/suite/internal/datafile"
)

// reader starts a run that reads path until it is stopped, and returns once it has the file.
func reader(t *testing.T, u benchtest.User, path, share string) (pid int, stop func()) {
	t.Helper()
	cmd := u.Command([]string{"FILE=" + path, "CASES=hot", "THREADS=1", "SHARE=" + share}, "-test.bench=Null$", "-test.benchtime=10m")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() {
		cmd.Process.Kill()
		cmd.Wait() // its status is that it was killed
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "file: ") {
			return cmd.Process.Pid, stop
		}
	}
	stop()
	t.Fatal("it has no configuration lines")
	return 0, nil
}

func newDataFile(t *testing.T, size int64) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data")
	if _, err := datafile.Create(t.Context(), datafile.Spec{Path: path, Size: size, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil { // reading is enough for all of it
		t.Fatal(err)
	}
	return path
}

// A second run on a file learns who reads it, and goes on beside it or gives up waiting, as READBENCH_SHARE says.
func TestSecondRun(t *testing.T) {
	for _, tc := range []struct {
		first, second string
		exit          int
		says          string // of the second, on standard error; "" if nothing
	}{
		{"wait", "wait", 2, `READBENCH_SHARE="wait"`},
		{"wait", "share", 2, `READBENCH_SHARE="share"`},
		{"share", "wait", 2, `READBENCH_SHARE="wait"`},
		{"go", "wait", 2, `READBENCH_SHARE="wait"`},
		{"wait", "go", 0, "goes on beside it"},
		{"share", "go", 0, "goes on beside it"},
		{"share", "share", 0, ""},
	} {
		t.Run(tc.first+", "+tc.second, func(t *testing.T) {
			u, path := benchtest.NewUser(t), newDataFile(t, 1<<20)
			pid, stop := reader(t, u, path, tc.first)
			defer stop()
			stdout, stderr, exit := u.Benchmark(t, []string{"FILE=" + path, "CASES=hot", "THREADS=1", "SHARE=" + tc.second, "SETUP_TIMEOUT=1s"},
				"-test.bench=Null$", "-test.benchtime=1x")
			if exit != tc.exit || (exit == 0) != strings.Contains(stdout, "BenchmarkNull") {
				t.Errorf("exit %d, stdout:\n%s", exit, stdout)
			}
			if tc.says == "" {
				if stderr != "" {
					t.Errorf("it says %q", stderr)
				}
				return
			}
			for _, want := range []string{fmt.Sprintf("%s is in use by process %d (", path, pid), "-test.bench=Null$", tc.says} {
				if !strings.Contains(stderr, want) {
					t.Errorf("stderr lacks %q:\n%s", want, stderr)
				}
			}
			if exit != 0 && !strings.Contains(stderr, "READBENCH_SETUP_TIMEOUT") {
				t.Errorf("stderr does not say how to wait longer:\n%s", stderr)
			}
		})
	}
}

// A run that waits begins when the one before it has ended, be it killed.
func TestWaits(t *testing.T) {
	u, path := benchtest.NewUser(t), newDataFile(t, 1<<20)
	pid, stop := reader(t, u, path, "wait")
	defer stop()
	cmd := u.Command([]string{"FILE=" + path, "CASES=hot", "THREADS=1"}, "-test.bench=Null$", "-test.benchtime=1x")
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	waited := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if strings.Contains(lines.Text(), fmt.Sprintf("in use by process %d (", pid)) && strings.Contains(lines.Text(), "waiting for it to end") {
			waited = true
			stop()
		}
	}
	if err := cmd.Wait(); err != nil || !waited || !strings.Contains(stdout.String(), "BenchmarkNull") {
		t.Errorf("waited: %v, %v, stdout:\n%s", waited, err, &stdout)
	}
}

// A hot row that another process spoils is missing, or fails, and that process is named.
func TestSpoiltByAnotherProcess(t *testing.T) {
	u, path := benchtest.NewUser(t), newDataFile(t, 16<<20)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := u.Command([]string{"FILE=" + path, "CASES=hot", "THREADS=1"}, "-test.bench=Pread$", "-test.benchtime=20000x")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for running := true; running; {
		select {
		case err = <-ended:
			running = false
			t.Log("the run ended with:", err)
		case <-time.After(time.Millisecond):
			if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
				t.Error(err)
			}
		}
	}
	want := fmt.Sprintf("likely another process evicts or warms it (it is open in process %d (", os.Getpid())
	row := regexp.MustCompile(`(?m)^Benchmark.* ns/op`)
	if row.MatchString(output.String()) || !strings.Contains(output.String(), want) {
		t.Errorf("there is a row, or no %q:\n%s", want, &output)
	}
}
