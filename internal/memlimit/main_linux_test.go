package memlimit

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Set in a process that a test starts from this same binary: what it is to do, and as which user.
const (
	roleVar = "MEMLIMIT_TEST_ROLE"
	userVar = "MEMLIMIT_TEST_USER"
)

func TestMain(m *testing.M) {
	if user := os.Getenv(userVar); user != "" && user != itoa(os.Getuid()) {
		uid, err := strconv.Atoi(user)
		if err == nil {
			err = syscall.Setgroups(nil)
		}
		if err == nil {
			err = syscall.Setgid(uid)
		}
		if err == nil {
			err = syscall.Setuid(uid)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "becoming another user:", err)
			os.Exit(3)
		}
	}
	if role := os.Getenv(roleVar); role != "" && roles[role] != nil {
		if err := roles[role](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// A process is this test binary in a role.
type process struct {
	*exec.Cmd
	out    *bufio.Reader
	stderr bytes.Buffer
	stdin  io.Closer
}

func start(t *testing.T, role string, args []string, env ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command("/proc/self/exe", args...)} // another user cannot reach the file by its name
	p.Env = append(append(os.Environ(), roleVar+"="+role), env...)
	p.Stderr = &p.stderr
	p.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does it
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.stdin, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(stdout)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			p.Process.Kill()
			p.Wait()
		}
	})
	return p
}

// line is the next line that the process prints.
func (p *process) line(t *testing.T) string {
	t.Helper()
	s, err := p.out.ReadString('\n')
	if err != nil {
		p.Wait()
		t.Fatalf("the process ended: %v, stderr %q", p.ProcessState, &p.stderr)
	}
	return strings.TrimSpace(s)
}

// end waits for the end of the process, and of the janitor, which shares its standard error.
func (p *process) end(t *testing.T) string {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { p.Process.Kill() })
	defer timer.Stop()
	io.Copy(io.Discard, p.out)
	p.Wait()
	return p.ProcessState.String()
}
