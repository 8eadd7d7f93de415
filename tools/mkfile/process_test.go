package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A process is mkfile in a process of its own.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...)}
	p.Env = append(os.Environ(), runVar+"=1")
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// code waits for the end of the process and returns its exit status.
func (p *process) code(t *testing.T) int {
	t.Helper()
	var exit *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

// lock takes the lock that the maker of path holds, so that others wait.
func lock(t *testing.T, path string) (unlock func()) {
	t.Helper()
	f, err := os.Create(path + ".part")
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestTwoAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	unlock := lock(t, path)
	args := []string{"-size", "16MiB", path}
	a, b := start(t, args...), start(t, args...)
	time.Sleep(300 * time.Millisecond) // both wait by now, most likely; the test is right even if not
	unlock()
	made := 0
	for _, p := range []*process{a, b} {
		if code := p.code(t); code != 0 || p.stderr.Len() > 0 {
			t.Errorf("exit status %d, stderr %q", code, &p.stderr)
		}
		switch out := p.stdout.String(); {
		case strings.HasPrefix(out, "made "):
			made++
		case !strings.HasPrefix(out, "there already: "):
			t.Errorf("stdout %q", out)
		}
	}
	if made != 1 {
		t.Errorf("%d processes made the file, want 1: %q, %q", made, &a.stdout, &b.stdout)
	}
	if _, err := os.Stat(path + ".part"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the part file is left: %v", err)
	}
	expect(t, []string{"-check", "-size", "16MiB", "-seed", "1", path}, 0, "^ok ", "")
}

// An interrupt while the file is written: nothing is left.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		path := filepath.Join(t.TempDir(), "data")
		p := start(t, "-size", "512MiB", path)
		waitFor(t, func() bool { // the part file, and its size, come after the signals are caught
			st, err := os.Stat(path + ".part")
			return err == nil && st.Size() > 0
		})
		if err := p.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		if code := p.code(t); code != 130 || p.stdout.Len() > 0 || !strings.Contains(p.stderr.String(), "making "+path) {
			t.Errorf("%v: exit status %d, stdout %q, stderr %q", sig, code, &p.stdout, &p.stderr)
		}
		if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) > 0 {
			t.Errorf("%v: left are %v, %v", sig, left, err)
		}
	}
}

// An interrupt while another process makes the file: that one's part file stays.
func TestInterruptedWaiting(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "data")
	unlock := lock(t, path)
	defer unlock()
	p := start(t, "-size", "4KiB", path)
	time.Sleep(300 * time.Millisecond) // there is nothing to see from outside when it waits
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := p.code(t); code != 130 && code != -1 { // -1: killed before it caught signals
		t.Errorf("exit status %d, stderr %q", code, &p.stderr)
	}
	if _, err := os.Stat(path + ".part"); err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited 30 s in vain")
		}
	}
}

// A file that a benchmark reads is not replaced, and the reader is named.
func TestForceLeavesReadersAlone(t *testing.T) {
	t.Parallel()
	for _, how := range []int{unix.LOCK_EX, unix.LOCK_SH} {
		path := filepath.Join(t.TempDir(), "data")
		write(t, path, []byte("old"))
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Flock(int(f.Fd()), how); err != nil {
			t.Fatal(err)
		}
		p := start(t, "-force", "-size", "4KiB", path)
		code, by := p.code(t), "a process"
		if runtime.GOOS == "linux" {
			by = fmt.Sprintf("process %d (", os.Getpid())
		}
		if got := p.stderr.String(); code != 1 || !strings.Contains(got, path+": it is in use by "+by) {
			t.Errorf("exit status %d, stderr %q", code, got)
		}
		if text, err := os.ReadFile(path); string(text) != "old" || err != nil {
			t.Errorf("it was replaced by %d bytes, %v", len(text), err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if p := start(t, "-force", "-size", "4KiB", path); p.code(t) != 0 {
			t.Errorf("after the reader ended: stderr %q", &p.stderr)
		}
	}
}
