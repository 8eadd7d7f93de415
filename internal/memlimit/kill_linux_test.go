package memlimit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// startJoined starts a process in a group of its own.
func startJoined(t *testing.T, role string, args ...string) (p *process, dir string) {
	t.Helper()
	p, dir, _ = startWatched(t, role, args...)
	return p, dir
}

// startWatched is startJoined; it also returns the janitor's number.
func startWatched(t *testing.T, role string, args ...string) (p *process, dir string, janitor int) {
	t.Helper()
	requireGroups(t)
	p = start(t, role, args)
	line := p.line(t)
	if _, err := fmt.Sscan(line, &dir, &janitor); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	if !slices.Contains(strings.Fields(membership(t, path.Join(dir, "cgroup.procs"))), itoa(p.Process.Pid)) {
		t.Errorf("%s is without its process", dir)
	}
	if got := p.line(t); got != "ready" {
		t.Fatal(got)
	}
	return p, dir, janitor
}

// A process that ends by a signal leaves no group: when its standard error is at its end, all is gone.
func TestSignals(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL, syscall.SIGQUIT, syscall.SIGHUP} {
		t.Run(sig.String(), func(t *testing.T) {
			p, dir := startJoined(t, "wait")
			if err := p.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			state := p.end(t)
			if want := "signal: " + sig.String(); sig != syscall.SIGQUIT && state != want {
				t.Errorf("%s, want %s: signals are to do what they always do", state, want)
			}
			gone(t, dir)
			if bytes.Contains(p.stderr.Bytes(), []byte("# readbench")) {
				t.Errorf("stderr %q", &p.stderr)
			}
		})
	}
}

// A terminal, or timeout(1), signals the whole process group: the janitor is not in it. What is sent to the
// janitor itself it does not mind.
func TestProcessGroupIsKilled(t *testing.T) {
	p, dir, janitor := startWatched(t, "wait")
	for _, sig := range []syscall.Signal{syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM} {
		if err := syscall.Kill(janitor, sig); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Kill(-p.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if state := p.end(t); state != "signal: killed" {
		t.Error(state)
	}
	gone(t, dir)
}

// Nor does one that panics, exits without running what is deferred, or is killed for lack of memory; that is
// said.
func TestEnds(t *testing.T) {
	for role, want := range map[string]struct{ state, stderr string }{
		"panic": {"exit status 2", "panic: on purpose"},
		"exit":  {"exit status 5", ""},
		"oom":   {"signal: killed", "# readbench: out of memory: the kernel killed 1 of the processes in the memory-limited group readbench.test."},
	} {
		t.Run(role, func(t *testing.T) {
			requireGroups(t)
			before := passedOn(t)
			p, dir := startJoined(t, role)
			if state := p.end(t); state != want.state {
				t.Errorf("%s, want %s", state, want.state)
			}
			if got := p.stderr.String(); !strings.HasPrefix(got, want.stderr) || want.stderr == "" && got != "" {
				t.Errorf("stderr %q, want %q", got, want.stderr)
			}
			gone(t, dir)
			if after := passedOn(t); after != before {
				t.Errorf("the controllers that are passed on were %q, and are %q", before, after)
			}
		})
	}
}

// passedOn are the controllers that the children of the group in which groups are made have; "" with version 1.
func passedOn(t *testing.T) string {
	t.Helper()
	c, err := Find("/")
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.files.Read(c.control())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return text
}

// TestHang is run by TestTimeout, as a test that hangs.
func TestHang(t *testing.T) {
	if os.Getenv(roleVar) != "hang" {
		t.Skip("this is for another test")
	}
	if err := joined(wait); err != nil {
		t.Fatal(err)
	}
}

// The panic of a test that runs into its timeout. On a slow machine that may come before the group: then again,
// with more time.
func TestTimeout(t *testing.T) {
	requireGroups(t)
	for timeout := 250 * time.Millisecond; timeout < time.Minute; timeout *= 4 {
		p := start(t, "hang", []string{"-test.run=^TestHang$", "-test.timeout=" + timeout.String()})
		var dir string
		var janitor int
		fmt.Fscan(p.out, &dir, &janitor)
		p.out.ReadString('\n') // the rest of the first line
		line, err := p.out.ReadString('\n')
		if state := p.end(t); state != "exit status 2" {
			t.Errorf("%s", state)
		}
		if got := p.stderr.String(); !strings.Contains(got, "test timed out") {
			t.Errorf("stderr %q", got)
		}
		if dir != "" {
			gone(t, dir)
		}
		if err == nil && line == "ready\n" {
			return
		}
	}
	t.Error("a minute was not enough to join a group")
}

// When the janitor is killed, too, the group stays, and the next start removes it; one of a live process it
// leaves.
func TestSweep(t *testing.T) {
	live, liveDir := startJoined(t, "wait")
	p, dir := startJoined(t, "alone")
	if state := p.end(t); state != "signal: killed" {
		t.Fatalf("%s, stderr %q", state, &p.stderr)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("nothing is left to sweep: %v", err)
	}
	c, err := Find("/")
	if err != nil {
		t.Fatal(err)
	}
	me, err := self(c.files)
	if err != nil {
		t.Fatal(err)
	}
	was, foreign := me, me
	was.start-- // somebody who had this process's number before
	foreign.namespace, foreign.pid = "1", 1<<22
	past, elsewhere := path.Join(c.parent, groupName("test", was)), path.Join(c.parent, groupName("test", foreign))
	for _, d := range []string{past, elsewhere} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
		defer rmdir(d)
	}
	removed, err := c.Sweep()
	t.Log(removed, err) // others' groups may be among them, and others may have removed ours first
	gone(t, dir)
	gone(t, past)
	if slices.Contains(removed, liveDir) || slices.Contains(removed, elsewhere) {
		t.Errorf("removed %q, which is not ours to remove", removed)
	}
	if got := membership(t, path.Join(liveDir, "cgroup.procs")); got != itoa(live.Process.Pid)+"\n" {
		t.Errorf("the live process's group has %q", got)
	}
}

// Who closes the group has no janitor any more, and nothing to say.
func TestClosed(t *testing.T) {
	requireGroups(t)
	p := start(t, "close", nil)
	dir, _, _ := strings.Cut(p.line(t), " ")
	if state := p.end(t); state != "exit status 0" || p.stderr.Len() > 0 {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
	gone(t, dir)
}

// What a dead process has left running in its group is taken home by the janitor, and limited no longer.
func TestOrphans(t *testing.T) {
	home := membership(t, "/proc/self/cgroup")
	p, dir := startJoined(t, "orphan")
	pid, err := strconv.Atoi(p.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	cgroup := path.Join("/proc", itoa(pid), "cgroup")
	if got := membership(t, cgroup); !strings.Contains(got, path.Base(dir)) {
		t.Errorf("at first, the orphan is in %q", got)
	}
	p.stdin.Close()
	if state := p.end(t); state != "signal: killed" {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
	gone(t, dir)
	if got := membership(t, cgroup); got != home {
		t.Errorf("the orphan is in %q, want %q", got, home)
	}
}

// With the janitor dead, too, the next start lifts the limit of what lives on, says so, and leaves it where it
// is.
func TestSweepOrphans(t *testing.T) {
	p, dir := startJoined(t, "abandoned")
	pid, err := strconv.Atoi(p.line(t))
	if err != nil {
		t.Fatal(err)
	}
	p.stdin.Close()
	defer func() {
		syscall.Kill(pid, syscall.SIGKILL)
		for try := 0; rmdir(dir) != nil && try < 1000; try++ {
			time.Sleep(time.Millisecond)
		}
		gone(t, dir)
	}()
	if state := p.end(t); state != "signal: killed" {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
	c, err := Find("/")
	if err != nil {
		t.Fatal(err)
	}
	removed, err := c.Sweep()
	if err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), itoa(pid)) || slices.Contains(removed, dir) {
		t.Errorf("removed %q, %v", removed, err)
	}
	if n, err := c.version.limit(c.files, dir); n != Unlimited || err != nil {
		t.Errorf("the orphan's limit is %d, %v", n, err)
	}
}

// A user who may not make groups is told what was refused, and commands that help.
func TestWithoutRights(t *testing.T) {
	requireRoot(t)
	requireGroups(t)
	p := start(t, "close", nil, userVar+"=65534")
	state := p.end(t)
	if state == "exit status 0" {
		t.Fatal("nobody made a group")
	}
	got := p.stderr.String()
	for _, want := range []string{"tried and refused: ", "permission denied", "what would help", "sudo "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	t.Log(got)
}

// The command that helps helps: a group of the user's own, in which the process was started.
func TestDelegated(t *testing.T) {
	requireRoot(t)
	requireGroups(t)
	c, err := Find("/")
	if err != nil {
		t.Fatal(err)
	}
	if _, isV1 := c.version.(v1); !isV1 {
		t.Skip("the command is for version 1")
	}
	const user = 65534
	own := path.Join(c.home, "readbench-of-nobody")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	defer rmdir(own)
	for _, name := range []string{"", "cgroup.procs"} {
		if err := os.Chown(path.Join(own, name), user, user); err != nil {
			t.Fatal(err)
		}
	}
	p := start(t, "delegated", nil, userVar+"="+itoa(user))
	defer p.Process.Kill()
	if err := os.WriteFile(path.Join(own, "cgroup.procs"), []byte(itoa(p.Process.Pid)), 0); err != nil {
		t.Fatal(err)
	}
	p.stdin.Close() // which it waits for
	dir, _, _ := strings.Cut(p.line(t), " ")
	if path.Dir(dir) != own {
		t.Errorf("the group is %s, want one in %s", dir, own)
	}
	if state := p.end(t); state != "exit status 0" {
		t.Errorf("%s, stderr %q", state, &p.stderr)
	}
	gone(t, dir)
}

// requireGroups skips the test where there are no groups to be had.
func requireGroups(t *testing.T) {
	t.Helper()
	_, g := join(t)
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user: run this test as root")
	}
}
