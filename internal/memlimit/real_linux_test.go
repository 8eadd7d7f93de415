package memlimit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

// These ask the kernel of this machine, with whichever version of control groups it has.

// join makes a real group, or skips the test where that is not to be had.
func join(t *testing.T) (*Controller, *Group) {
	t.Helper()
	c, err := Find("/")
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Join("test")
	if errors.Is(err, ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, g
}

// limit sets the smallest limit that is accepted and returns it.
func limit(t *testing.T, c *Controller, g *Group) int64 {
	t.Helper()
	runtime.GC()
	least, err := c.Least()
	if err != nil {
		t.Fatal(err)
	}
	least += 16 << 20 // the process may grow until it asks
	if err := g.Limit(least); err != nil {
		t.Fatal(err)
	}
	return least
}

func usage(t *testing.T, g *Group) Usage {
	t.Helper()
	u, err := g.Usage()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// membership is the file that says which groups this process, or one of its threads, is in.
func membership(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func gone(t *testing.T, dir string) {
	t.Helper()
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the group is left: %s, %v", dir, err)
	}
}

// hole is a file of nothing but a hole: its pages are as good as any, and need no device.
func hole(t *testing.T, size int64) *os.File {
	t.Helper()
	dir := t.TempDir()
	testfile.RequireDisk(t, dir)
	f, err := os.Create(filepath.Join(dir, "hole"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	return f
}

func readThrough(t *testing.T, f *os.File, size int64) {
	t.Helper()
	if n, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, size)); n != size || err != nil {
		t.Fatal(n, err)
	}
}

// A file larger than the limit is read with page cache that stays below it; afterwards all is as before.
func TestFileLargerThanTheLimit(t *testing.T) {
	before := membership(t, "/proc/self/cgroup")
	c, g := join(t)
	t.Log(c)
	if u := usage(t, g); u.Limit != Unlimited {
		t.Errorf("a new group has the limit %d", u.Limit)
	}
	most := limit(t, c, g)
	size := 2 * most
	f := hole(t, size)
	start := usage(t, g)
	if start.Limit != most {
		t.Errorf("the limit is %d, want %d", start.Limit, most)
	}
	readThrough(t, f, size)
	once := usage(t, g)
	readThrough(t, f, size)
	twice := usage(t, g)
	t.Logf("limit %d, file %d:\nat start %+v\nread once %+v\nread twice %+v", most, size, start, once, twice)
	for _, u := range []Usage{once, twice} {
		const over = 1 << 20 // what the kernel may not refuse goes over the limit for a moment
		if most := most + over; u.Current > most || u.File > most || u.Peak != Unknown && u.Peak > most {
			t.Errorf("more than the limit, %d: %+v", most, u)
		}
		if u.File < most/4 || u.Current < most/2 {
			t.Errorf("a limit of %d that is not used by a file of %d: %+v", most, size, u)
		}
		if u.Reclaimable > u.File {
			t.Errorf("more can be reclaimed than there is: %+v", u)
		}
		if u.Events.OOMKills != 0 {
			t.Errorf("killed: %+v", u)
		}
	}
	if r, err := pagecache.Resident(f, 0, size); err != nil || r.Resident*int64(os.Getpagesize()) > most+1<<20 {
		t.Errorf("%v, which is more than the limit of %d; %v", r, most, err)
	}
	if d := once.Events.Sub(start.Events); d.AtLimit <= 0 {
		t.Errorf("the limit was not met: %+v", d)
	}
	if d := twice.Events.Sub(once.Events); d.Refaults <= 0 {
		t.Errorf("what was reclaimed was not read again: %+v", d)
	}
	if d := twice.Events.Sub(start.Events); d.Stolen != Unknown && (d.Stolen*int64(os.Getpagesize()) < size || d.Scanned < d.Stolen) {
		t.Errorf("reclaim of most of a file of %d, twice, is not seen: %+v", size, d)
	}

	for range 2 { // once is enough
		if err := g.Close(); err != nil {
			t.Fatal(err)
		}
	}
	gone(t, g.Dir())
	if after := membership(t, "/proc/self/cgroup"); after != before {
		t.Errorf("this process was in %q, and is in %q", before, after)
	}
	readThrough(t, f, size)
	if r, err := pagecache.Resident(f, 0, size); err != nil || r.Resident != r.Pages {
		t.Errorf("after closing, %v: is there a limit still? %v", r, err)
	}
	if _, err := g.Usage(); err == nil {
		t.Error("a closed group has a usage")
	}
	if err := g.Limit(most); err == nil {
		t.Error("a closed group can be limited")
	}
}

// All threads come along, there and back: those that wait, those that run, and those that are made later.
func TestAllThreadsMove(t *testing.T) {
	threads := func() (groups map[string]int) {
		groups = map[string]int{}
		tasks, err := filepath.Glob("/proc/self/task/*/cgroup")
		if err != nil || len(tasks) < 4 {
			t.Fatal(tasks, err)
		}
		for _, task := range tasks {
			if b, err := os.ReadFile(task); err == nil { // a thread may end meanwhile
				groups[string(b)]++
			}
		}
		return groups
	}
	stop := make(chan struct{})
	var ready, done sync.WaitGroup
	for range 8 {
		ready.Add(1)
		done.Go(func() {
			runtime.LockOSThread()
			ready.Done()
			<-stop
		})
	}
	defer done.Wait()
	defer close(stop)
	ready.Wait()
	before := threads()
	_, g := join(t)
	if in := threads(); len(in) != 1 || in[membership(t, "/proc/self/cgroup")] < 8 {
		t.Errorf("after joining, threads are in %v", in)
	}
	for in := range threads() { // one
		if !strings.Contains(in, path.Base(g.Dir())) {
			t.Errorf("after joining, threads are in %q", in)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if after := threads(); len(after) != 1 || len(before) != 1 || after[membership(t, "/proc/self/cgroup")] < 8 {
		t.Errorf("threads were in %v, and are in %v", before, after)
	}
}

// A limit that leaves no room for the process names the one that does, and that one is accepted.
func TestLimitTooSmall(t *testing.T) {
	_, g := join(t)
	var small *TooSmallError
	if err := g.Limit(1 << 20); !errors.As(err, &small) {
		t.Fatalf("a limit of 1 MiB: %v", err)
	}
	if u := usage(t, g); u.Limit != Unlimited {
		t.Errorf("refused, and yet the limit is %d", u.Limit)
	}
	if small.Own < 1<<20 || small.Least < small.Own+Headroom || small.Limit != 1<<20 {
		t.Errorf("%+v", small)
	}
	const slack = 8 << 20 // this process may have grown meanwhile
	if err := g.Limit(small.Least + slack); err != nil {
		t.Errorf("the least that works, by its own word, does not: %v", err)
	}
	if err := g.Limit(2 * small.Least); err != nil {
		t.Errorf("a limit cannot be raised: %v", err)
	}
	if err := g.Limit(small.Least + slack); err != nil {
		t.Errorf("a limit cannot be lowered again: %v", err)
	}
}

// A process in a group makes no second one.
func TestJoinTwice(t *testing.T) {
	c, g := join(t)
	if _, err := c.Join("again"); err == nil || !strings.Contains(err.Error(), "close that first") {
		t.Errorf("joined a group twice: %v", err)
	}
	inside, err := Find("/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := inside.Join("within"); err == nil || !strings.Contains(err.Error(), "groups within groups") {
		t.Errorf("joined a group within a group: %v", err)
	}
	usage(t, g)
	if _, err := c.Join("Bad/label"); err == nil || !strings.Contains(err.Error(), "label") {
		t.Errorf("a bad label: %v", err)
	}
}

// What a process starts while it is in the group is moved back, too.
func TestChildrenMoveBack(t *testing.T) {
	before := membership(t, "/proc/self/cgroup")
	_, g := join(t)
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { child.Process.Kill(); child.Wait() }()
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	gone(t, g.Dir())
	if after := membership(t, filepath.Join("/proc", itoa(child.Process.Pid), "cgroup")); after != before {
		t.Errorf("the child is in %q, want %q", after, before)
	}
}

// A process of the group that takes more than the limit is killed, and counted.
func TestOOMKillIsCounted(t *testing.T) {
	c, g := join(t)
	limit(t, c, g)
	before := usage(t, g)
	p := start(t, "eat", nil)
	if state := p.end(t); state != "signal: killed" {
		t.Fatalf("%s, stderr %q", state, &p.stderr)
	}
	after := usage(t, g)
	if d := after.Events.Sub(before.Events); d.OOMKills != 1 {
		t.Errorf("one process was killed, and %+v", d)
	}
}

// A group from which this process was moved has no usage: its limit holds no longer.
func TestMovedAway(t *testing.T) {
	c, g := join(t)
	if err := os.WriteFile(path.Join(c.home, "cgroup.procs"), []byte(itoa(os.Getpid())), 0); err != nil {
		t.Fatal(err)
	}
	if u, err := g.Usage(); err == nil || !strings.Contains(err.Error(), "moved") {
		t.Errorf("%+v, %v", u, err)
	}
}

// The machine's own limits: what is available is no more than the machine has.
func TestAvailableHere(t *testing.T) {
	c, err := Find("/")
	if err != nil {
		t.Skip(err)
	}
	bound, dir, err := c.Bound()
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.Available()
	if err != nil || n > bound {
		t.Errorf("%d of %d (%s), %v", n, bound, dir, err)
	}
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		t.Fatal(err)
	}
	if least, err := c.Least(); err != nil || least < Headroom || uint64(least) > info.Totalram*uint64(info.Unit) {
		t.Errorf("least %d, %v", least, err)
	}
}

// Without a shell that works there is no group: nobody would remove it.
func TestNoShell(t *testing.T) {
	requireGroups(t)
	defer func(was string) { shell = was }(shell)
	before := membership(t, "/proc/self/cgroup")
	for _, shell = range []string{"no-such-shell", "true", "false"} {
		c, err := Find("/")
		if err != nil {
			t.Fatal(err)
		}
		g, err := c.Join("test")
		if g != nil || !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), shell) {
			t.Errorf("with the shell %q: %v, %v", shell, g, err)
		}
	}
	if after := membership(t, "/proc/self/cgroup"); after != before {
		t.Errorf("this process was in %q, and is in %q", before, after)
	}
}
