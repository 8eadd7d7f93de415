package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/readbench/suite/internal/memhog"
	"github.com/readbench/suite/readbench/config"
)

const runVar = "RAMHOG_TEST_RUN" // set in a process that is to be ramhog itself

func TestMain(m *testing.M) {
	if os.Getenv(runVar) != "" {
		main()
	}
	os.Exit(m.Run())
}

// A process is ramhog in a process of its own.
type process struct {
	*exec.Cmd
	out    *bufio.Reader
	stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.Env = append(os.Environ(), runVar+"=1")
	p.Stderr = &p.stderr
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(stdout)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// end waits for the end of the process, and returns how it ended and what it still printed.
func (p *process) end(t *testing.T) (state, rest string) {
	t.Helper()
	b, err := io.ReadAll(p.out)
	if err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.String(), string(b)
}

var readyLine = regexp.MustCompile(`^ready: took ([0-9]+)MiB, [0-9]+[KMG]iB are available\n$`)

// ready waits for the line that says so, and returns how many MiB were taken.
func (p *process) ready(t *testing.T) int {
	t.Helper()
	line, err := p.out.ReadString('\n')
	if err != nil {
		state, _ := p.end(t)
		t.Fatalf("%v; %s, stderr %q", err, state, &p.stderr)
	}
	m := readyLine.FindStringSubmatch(line)
	if m == nil {
		t.Fatalf("stdout %q, want a match of %s", line, readyLine)
	}
	mib, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return mib
}

// lockedMiB is how much memory the kernel says that a process has locked.
func lockedMiB(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^VmLck:\s+([0-9]+) kB$`).FindSubmatch(b)
	if m == nil {
		t.Fatalf("no VmLck in %q", b)
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// need skips the test where nothing of a size that tests may take can be taken.
func need(t *testing.T, n int64) {
	t.Helper()
	h, err := memhog.Take(t.Context(), n)
	if errors.Is(err, memhog.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
}

// What is asked for is locked when the line says so, and stays so until a signal; then it is gone.
func TestTakeUntilSignal(t *testing.T) {
	need(t, 100<<20)
	for sig, want := range map[syscall.Signal]string{
		syscall.SIGINT:  "exit status 0",
		syscall.SIGTERM: "exit status 0",
		syscall.SIGKILL: "signal: killed",
	} {
		t.Run(sig.String(), func(t *testing.T) {
			p := start(t, "-take", "100MiB")
			if got := p.ready(t); got != 100 {
				t.Errorf("took %d MiB, by its own word", got)
			}
			if got := lockedMiB(t, p.Process.Pid); got != 100 {
				t.Errorf("%d MiB are locked, want 100", got)
			}
			if b, err := os.ReadFile(fmt.Sprintf("/proc/%d/oom_score_adj", p.Process.Pid)); err != nil || string(b) != "1000\n" {
				t.Errorf("oom_score_adj is %q, %v", b, err)
			}
			if err := p.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			state, rest := p.end(t)
			if state != want || rest != "" || p.stderr.Len() > 0 {
				t.Errorf("%s, want %s; stdout %q, stderr %q", state, want, rest, &p.stderr)
			}
			if _, err := os.Stat(fmt.Sprintf("/proc/%d", p.Process.Pid)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the process is there: %v", err)
			}
		})
	}
}

// -leave takes what is too much.
func TestLeave(t *testing.T) {
	const most = 256 // MiB
	need(t, most<<20)
	available, err := memhog.Available("/")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "-leave", config.Size(available-most<<20).String())
	line, err := p.out.ReadString('\n')
	if err == nil {
		m := readyLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("stdout %q", line)
		}
		// Not exactly most: others take and free memory all the time.
		if got, _ := strconv.Atoi(m[1]); got == 0 || lockedMiB(t, p.Process.Pid) != got {
			t.Errorf("took %s MiB, and %d are locked", m[1], lockedMiB(t, p.Process.Pid))
		}
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	}
	state, _ := p.end(t)
	if err == nil && state != "exit status 0" {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
	// Others may have taken that much meanwhile.
	if err != nil && (state != "exit status 1" || !strings.Contains(p.stderr.String(), "no more than")) {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args   []string
		code   int
		stderr string
	}{
		"nothing":               {nil, 2, "how much?"},
		"both":                  {[]string{"-leave", "4GiB", "-take", "1GiB"}, 2, "give one of them"},
		"an argument":           {[]string{"-take", "1GiB", "4GiB"}, 2, `no arguments: \["4GiB"\]`},
		"not a size":            {[]string{"-take", "1GB"}, 2, "a size is a whole number of bytes"},
		"negative":              {[]string{"-take", "-5"}, 2, "a size is a whole number of bytes"},
		"no value":              {[]string{"-leave"}, 2, "flag needs an argument"},
		"bad flag":              {[]string{"-x"}, 2, "-x"},
		"take nothing":          {[]string{"-take", "0"}, 2, "take more"},
		"leave below the floor": {[]string{"-leave", "100MiB"}, 2, "at least 512MiB must stay"},
		"leave nothing":         {[]string{"-leave", "0"}, 2, "at least 512MiB must stay"},
		"help":                  {[]string{"-h"}, 0, "^usage:"},
		"take more than all":    {[]string{"-take", "64TiB"}, 1, "must stay so: at most [0-9]+ can be taken|nothing can be taken"},
		"leave more than all":   {[]string{"-leave", "64TiB"}, 1, "no more than [0-9]+ are available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			if code := run(t.Context(), c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit status %d, want %d", code, c.code)
			}
			if !regexp.MustCompile(c.stderr).MatchString(stderr.String()) || stdout.Len() > 0 {
				t.Errorf("stderr %q, want a match of %q; stdout %q", &stderr, c.stderr, &stdout)
			}
		})
	}
}

// An interrupt before it is ready: nothing is taken, and the status tells.
func TestInterruptedEarly(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	if code := run(ctx, []string{"-take", "100MiB"}, &stdout, &stderr); code != exitInterrupted || stdout.Len() > 0 {
		t.Errorf("exit status %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
	if got := lockedMiB(t, os.Getpid()); got != 0 {
		t.Errorf("%d MiB stay locked", got)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// Nobody can wait for a line that cannot be printed: ramhog gives up.
func TestCannotSaySo(t *testing.T) {
	need(t, 1<<20)
	var stderr bytes.Buffer
	if code := run(t.Context(), []string{"-take", "1MiB"}, broken{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("exit status %d, stderr %q", code, &stderr)
	}
	if got := lockedMiB(t, os.Getpid()); got != 0 {
		t.Errorf("%d MiB stay locked", got)
	}
}
