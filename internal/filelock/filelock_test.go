package filelock

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// holdVar has the path that a process of this test binary is to lock, and how.
const holdVar = "FILELOCK_TEST_HOLD"

func TestMain(m *testing.M) {
	if mode, path, ok := strings.Cut(os.Getenv(holdVar), " "); ok {
		f, err := os.Open(path)
		if err == nil && mode != "open" {
			err = Try(f, map[string]Mode{"exclusive": Exclusive, "shared": Shared}[mode])
		}
		fmt.Println(err)
		bufio.NewReader(os.Stdin).ReadString('\n') // until it is killed
		f.Close()
		return
	}
	os.Exit(m.Run())
}

// hold starts a process that opens path, and locks it.
func hold(t *testing.T, mode, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--hold="+mode)
	cmd.Env = append(os.Environ(), holdVar+"="+mode+" "+path)
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait() // killed, or not
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "<nil>\n" {
		t.Fatalf("the process says %q, %v", line, err)
	}
	return cmd
}

func readOnly(t *testing.T) (path string, f *os.File) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "data of a test")
	if err := os.WriteFile(path, []byte("x"), 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return path, f
}

// Exclusive locks keep all out, shared ones exclusive ones. The holder is named, and its end unlocks, be it killed.
func TestTwoProcesses(t *testing.T) {
	for _, tc := range []struct {
		theirs string
		ours   Mode
		held   bool
	}{
		{"exclusive", Exclusive, true}, {"exclusive", Shared, true}, {"shared", Exclusive, true}, {"shared", Shared, false}, {"open", Exclusive, false},
	} {
		t.Run(fmt.Sprint(tc.theirs, tc.ours), func(t *testing.T) {
			path, f := readOnly(t)
			cmd := hold(t, tc.theirs, path)
			if err := Try(f, tc.ours); errors.Is(err, ErrHeld) != tc.held || err != nil && !tc.held {
				t.Fatal(err)
			}
			if !tc.held {
				return
			}
			if runtime.GOOS == "linux" {
				ps := Holders(f)
				if len(ps) != 1 || ps[0].PID != cmd.Process.Pid || !strings.Contains(Names(ps), "--hold="+tc.theirs) {
					t.Errorf("holders %v, want process %d", ps, cmd.Process.Pid)
				}
			}
			ended, cancel := context.WithCancel(t.Context())
			cancel()
			if err := Wait(ended, f, tc.ours); !errors.Is(err, context.Canceled) {
				t.Errorf("waiting with an ended context: %v", err)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := Wait(t.Context(), f, tc.ours); err != nil {
				t.Error(err)
			}
		})
	}
}

// A process that this one starts does not inherit its locks.
func TestNotInherited(t *testing.T) {
	path, f := readOnly(t)
	if err := Try(f, Exclusive); err != nil {
		t.Fatal(err)
	}
	hold(t, "open", path)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if err := Try(again, Exclusive); err != nil {
		t.Error(err)
	}
}

// Blame names a process that has the file open first, and says what else it may be.
func TestBlame(t *testing.T) {
	path, f := readOnly(t)
	if got := Blame("memory is short", f); !strings.HasPrefix(got, "memory is short, or another process") {
		t.Error(got)
	}
	if runtime.GOOS != "linux" {
		t.Skip("which processes use a file is told by /proc")
	}
	cmd := hold(t, "open", path)
	want := fmt.Sprintf("likely another process evicts or warms it (it is open in process %d (", cmd.Process.Pid)
	if got := Blame("memory is short", f); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "or memory is short") {
		t.Errorf("%s\nwant %s", got, want)
	}
}
