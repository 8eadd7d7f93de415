package memlimit

import (
	"errors"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const (
	v1Home    = "/sys/fs/cgroup/memory/job/1"
	v2User    = "/sys/fs/cgroup/user.slice/user-1000.slice"
	v2Home    = v2User + "/user@1000.service/app.slice/run-1.scope"
	groupBase = "readbench.x.4026531836.750.14245" // of the recorded process
	least     = 65<<20 - 960<<10                   // Headroom and what the recorded process holds, 32 KiB
)

func user() *kernel   { return newKernel("v2-user", v2Home) }
func hybrid() *kernel { return newKernel("hybrid-v1", v1Home) }

// top is version 2 with the process at the top of what is seen, and memory not passed on yet.
func top(container bool) *kernel {
	k := user()
	k.members = map[string]string{other: k.mount, me: k.mount}
	k.text[k.mount+"/cgroup.subtree_control"] = "\n"
	if container {
		k.text[k.mount+"/cgroup.type"] = "domain\n"
	}
	return k
}

// with changes files of a kernel: a text of "-" takes one away.
func with(k *kernel, files map[string]string) *kernel {
	for name, text := range files {
		if text == "-" {
			k.absent = append(k.absent, name)
		} else {
			k.text[name] = text
		}
	}
	return k
}

func failing(k *kernel, op string, err error) *kernel {
	k.faults[op] = err
	return k
}

// unsetting is a kernel whose new groups lack a file.
func unsetting(k *kernel, file string) *kernel {
	k.sets[file] = "-"
	return k
}

// What carries memory is found, and named.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		rule string
		k    *kernel
		want []string // in what it is called, or in an error
		ok   bool
	}{
		{"version 2", user(), []string{"version 2 (alone)", "mounted at /sys/fs/cgroup,", v2Home}, true},
		{"version 1 beside version 2 without memory", hybrid(), []string{"version 1 (version 2 is there, too, without memory)", "/sys/fs/cgroup/memory,", v1Home}, true},
		{"version 2 beside version 1 without memory", with(user(), map[string]string{
			"/proc/self/mountinfo": "25 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n26 23 0:23 / /sys/fs/v1 rw - cgroup cgroup rw,cpu\n"}),
			[]string{"version 2 (version 1 is there, too, without memory)"}, true},
		{"version 2 without memory", with(user(), map[string]string{"/sys/fs/cgroup/cgroup.controllers": "cpu io\n"}),
			[]string{`"cpu io"`, "without memory", "cgroup_disable=memory"}, false},
		{"no control groups", failing(user(), "read /proc/self/cgroup", syscall.ENOENT), []string{"this kernel has none"}, false},
		{"no mount", with(user(), map[string]string{"/proc/self/mountinfo": "1 1 0:2 / / rw - rootfs rootfs rw\n"}),
			[]string{"not below any place", "mount it"}, false},
		{"a mount of another part", with(hybrid(), map[string]string{"/proc/self/mountinfo": "35 31 0:32 /other /cg rw - cgroup cgroup rw,memory\n"}),
			[]string{"/job/1", "not below any place"}, false},
		{"files that may not be read", failing(user(), "read /proc/self/cgroup", syscall.EACCES), []string{"permission denied"}, false},
	} {
		got, err := find(c.k, c.k.watch)
		if c.ok != (err == nil) {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		text := ""
		if err == nil {
			text = got.String()
		} else {
			text = err.Error()
			if got != nil || !errors.Is(err, ErrUnsupported) && !errors.Is(err, syscall.EACCES) {
				t.Errorf("%s: %v, %v", c.rule, got, err)
			}
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", c.rule, text, want)
			}
		}
	}
}

// Joining, limiting and closing write these files in this order, and leave all as it was.
func TestOrder(t *testing.T) {
	for _, c := range []struct {
		rule  string
		k     *kernel
		group string // below the mount
		want  []string
	}{
		{"version 1", hybrid(), "job/1/" + groupBase, []string{
			"watch", "mkdir G", "G/cgroup.procs=750",
			"G/memory.memsw.limit_in_bytes=-1", "G/memory.swappiness=0", "G/memory.limit_in_bytes=134217728", "G/memory.memsw.limit_in_bytes=138412032",
			"G/memory.memsw.limit_in_bytes=-1", "G/memory.limit_in_bytes=-1", "job/1/cgroup.procs=750", "rmdir G", "unwatch"}},
		{"version 1 without swap accounting", unsetting(hybrid(), "memory.memsw.limit_in_bytes"), "job/1/" + groupBase, []string{
			"watch", "mkdir G", "G/cgroup.procs=750",
			"G/memory.swappiness=0", "G/memory.limit_in_bytes=134217728",
			"G/memory.limit_in_bytes=-1", "job/1/cgroup.procs=750", "rmdir G", "unwatch"}},
		{"version 2, a sibling", user(), strings.TrimPrefix(path.Dir(v2Home), "/sys/fs/cgroup/") + "/" + groupBase, []string{
			"watch", "mkdir G", "G/cgroup.procs=750",
			"G/memory.swap.max=0", "G/memory.max=134217728",
			"G/memory.max=max", strings.TrimPrefix(v2Home, "/sys/fs/cgroup/") + "/cgroup.procs=750", "rmdir G", "unwatch"}},
		{"version 2, at the root: a child, and memory is passed on meanwhile", top(false), groupBase, []string{
			"cgroup.subtree_control=+memory", "watch", "mkdir G", "G/cgroup.procs=750",
			"G/memory.swap.max=0", "G/memory.max=134217728",
			"G/memory.max=max", "cgroup.procs=750", "rmdir G", "cgroup.subtree_control=-memory", "unwatch"}},
	} {
		before := c.k.state()
		ctl, err := find(c.k, c.k.watch)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		g, err := ctl.Join("x")
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		if err := g.Limit(128<<20 + 17); err != nil {
			t.Errorf("%s: %v", c.rule, err)
		}
		if u, err := g.Usage(); err != nil || u.Limit != 128<<20 {
			t.Errorf("%s: %+v, %v", c.rule, u, err)
		}
		for range 2 {
			if err := g.Close(); err != nil {
				t.Errorf("%s: %v", c.rule, err)
			}
		}
		var got []string
		for _, change := range c.k.changes {
			got = append(got, strings.ReplaceAll(change, c.group, "G"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.rule, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
		if after := c.k.state(); after != before {
			t.Errorf("%s: the state was\n%s\nand is\n%s", c.rule, before, after)
		}
	}
}

// What refuses a group is named, with its cause and what would help; nothing is left.
func TestRefused(t *testing.T) {
	systemd := map[string]string{"/run/systemd/system": "there"}
	session := func() *kernel {
		k := with(user(), systemd)
		k.text[v2User+"/session-3.scope/cgroup.procs"] = ""
		k.members[me], k.members[other] = v2User+"/session-3.scope", v2User+"/session-3.scope"
		return k
	}
	for _, c := range []struct {
		rule      string
		k         *kernel
		want      []string
		unwelcome string
	}{
		{"a user's session, which root owns, with systemd", failing(session(), "mkdir "+v2User+"/*", syscall.EACCES),
			[]string{"mkdir " + v2User + "/" + groupBase + ": permission denied", "systemd-run --user --scope", "sudo systemd-run --scope -p MemoryMax=BYTES -p MemorySwapMax=0", "sudo COMMAND"}, "docker"},
		{"the same without systemd", failing(user(), "mkdir */"+groupBase, syscall.EACCES), []string{"sudo COMMAND"}, "systemd-run"},
		{"a container that may only read", failing(hybrid(), "mkdir */"+groupBase, syscall.EROFS), []string{"read-only file system", "docker run --memory=BYTES --memory-swap=BYTES"}, "sudo"},
		{"version 1, not root", failing(hybrid(), "mkdir */"+groupBase, syscall.EACCES), []string{"sudo mkdir /sys/fs/cgroup/memory/readbench-of-$USER", "sudo COMMAND"}, "docker"},
		{"moving is refused: the common ancestor is somebody else's", failing(user(), "write "+path.Dir(v2Home)+"/"+groupBase+"/cgroup.procs", syscall.EACCES), []string{"cgroup.procs: permission denied"}, "docker"},
		{"moving is refused by a filter", failing(hybrid(), "write "+v1Home+"/"+groupBase+"/cgroup.procs", syscall.EPERM), []string{"operation not permitted"}, "docker"},
		{"moving is refused: threads", failing(user(), "write "+path.Dir(v2Home)+"/"+groupBase+"/cgroup.procs", syscall.EOPNOTSUPP), []string{"operation not supported"}, "docker"},
		{"the group of this process vanished", failing(hybrid(), "mkdir */"+groupBase, syscall.ENOENT), []string{"no such file"}, "docker"},
		{"a container whose top group holds everything", top(true), []string{"topmost", `echo "$p" >/sys/fs/cgroup/init/cgroup.procs`, "docker run --memory"}, "sudo COMMAND"},
		{"the root may not pass memory on", failing(top(false), "write /sys/fs/cgroup/cgroup.subtree_control", syscall.EBUSY), []string{"subtree_control: device or resource busy"}, "docker"},
		{"memory is not passed on to here", with(user(), map[string]string{path.Dir(v2Home) + "/cgroup.subtree_control": "pids\n", path.Dir(v2Home) + "/cgroup.controllers": "pids\n"}),
			[]string{`no memory controller to pass on, only "pids"`, "echo +memory >" + v2User + "/user@1000.service/cgroup.subtree_control"}, "docker"},
		{"no shell", failing(hybrid(), "watch", errors.New("no sh")), []string{"no sh", "starting the shell"}, "docker"},
	} {
		before := c.k.state()
		ctl, err := find(c.k, c.k.watch)
		if err != nil {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		g, err := ctl.Join("x")
		if err == nil || g != nil || !errors.Is(err, ErrUnsupported) {
			t.Errorf("%s: %v", c.rule, err)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nlacks %q", c.rule, err, want)
			}
		}
		if strings.Contains(err.Error(), c.unwelcome) {
			t.Errorf("%s: %v\nhas %q", c.rule, err, c.unwelcome)
		}
		if after := c.k.state(); after != before {
			t.Errorf("%s: the state was\n%s\nand is\n%s", c.rule, before, after)
		}
	}
}

func joinFake(t *testing.T, k *kernel) *Group {
	t.Helper()
	c, err := find(k, k.watch)
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.Join("x")
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Limits that cannot be, or would not be the ones that count.
func TestLimitRefused(t *testing.T) {
	var small *TooSmallError
	if err := joinFake(t, hybrid()).Limit(least - 1); !errors.As(err, &small) || small.Least != least || small.Own != 32<<10 {
		t.Errorf("a limit that is too small: %v", err)
	}
	if err := joinFake(t, hybrid()).Limit(least); err != nil {
		t.Errorf("the least: %v", err)
	}
	k := user()
	g := joinFake(t, k)
	k.text[g.dir+"/memory.stat"] = "anon 10485760\nfile 0\nactive_file 0\ninactive_file 0\n"
	if err := g.Limit(least); !errors.As(err, &small) || small.Own != 10<<20 {
		t.Errorf("a limit too small for the children of this process: %v", err)
	}
	for _, c := range []struct {
		rule, want string
		refused    bool // by this machine: a LimitError
		k          *kernel
		before     func(k *kernel, g *Group)
	}{
		{"an ancestor's limit is lower, version 1", "bound to 1000000 already, by /sys/fs/cgroup/memory/job/memory.limit_in_bytes,", true,
			with(hybrid(), map[string]string{"/sys/fs/cgroup/memory/job/memory.limit_in_bytes": "1000000\n"}), nil},
		{"the group's own limit, which a sibling has not", "echo 134217728 | sudo tee " + v2Home + "/memory.max", true,
			with(user(), map[string]string{v2Home + "/memory.max": "1000000\n"}), nil},
		{"pages that cannot be reclaimed", "device or resource busy (it holds ", false, hybrid(), func(k *kernel, g *Group) { k.faults["write "+g.dir+"/memory.limit_in_bytes"] = syscall.EBUSY }},
		{"swap that cannot be forbidden", "sudo swapoff -a", true, user(), func(k *kernel, g *Group) { delete(k.text, g.dir+"/memory.swap.max") }},
		{"a kernel that sets another number", "134217728 was set, and it is 67108864", false, hybrid(), func(k *kernel, g *Group) { k.sets["memory.limit_in_bytes"] = "67108864" }},
		{"memory that is taken away", "memory.current: no such file", false, user(), func(k *kernel, g *Group) { delete(k.text, g.dir+"/memory.current") }},
	} {
		g := joinFake(t, c.k)
		if c.before != nil {
			c.before(c.k, g)
		}
		err := g.Limit(128 << 20)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.rule, err, c.want)
		}
		var limit *LimitError
		if is := errors.As(err, &limit); is != c.refused || is && limit.Limit != 128<<20 || errors.Is(err, ErrUnsupported) != c.refused {
			t.Errorf("%s: %v is a LimitError: %t, wraps ErrUnsupported: %t; want %t", c.rule, err, is, errors.Is(err, ErrUnsupported), c.refused)
		}
		if c.k.members[me] != g.dir {
			t.Errorf("%s: this process is in %s", c.rule, c.k.members[me])
		}
		clear(c.k.faults)
		if err := g.Close(); err != nil || c.k.members[me] == g.dir {
			t.Errorf("%s: closing the group: %v, and this process is in %s", c.rule, err, c.k.members[me])
		}
	}
	k = user()
	k.text["/proc/swaps"] = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	g = joinFake(t, k)
	delete(k.text, g.dir+"/memory.swap.max")
	if err := g.Limit(128 << 20); err != nil {
		t.Errorf("no swap accounting, and no swap: %v", err)
	}
}

// A group that cannot be removed at once is tried again; one that cannot be removed at all is an error, and Close
// may be tried again.
func TestCloseAgain(t *testing.T) {
	k := hybrid()
	g := joinFake(t, k)
	k.faults["rmdir "+g.dir] = syscall.EACCES
	if err := g.Close(); err == nil || !strings.Contains(err.Error(), "removing") {
		t.Errorf("closed: %v", err)
	}
	delete(k.faults, "rmdir "+g.dir)
	k.faults["write "+v1Home+"/cgroup.procs"] = syscall.ENOENT // moved home already: nothing is to be moved
	if err := g.Close(); err != nil || len(k.made) != 0 {
		t.Errorf("%v, groups %v", err, k.made)
	}

	k = hybrid()
	g = joinFake(t, k)
	k.faults["write "+g.dir+"/memory.limit_in_bytes"] = syscall.EIO
	if err := g.Close(); err == nil || !strings.Contains(err.Error(), "lifting") {
		t.Errorf("closed: %v", err)
	}
	if k.members[me] != g.dir {
		t.Error("moved out although the limit could not be lifted")
	}
}

// Memory stays passed on while another process's group needs it.
func TestNeighbours(t *testing.T) {
	k := top(false)
	g := joinFake(t, k)
	if err := k.Mkdir(k.mount + "/readbench.y.4026531836.99.1"); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if got := k.text[k.mount+"/cgroup.subtree_control"]; got != "memory\n" {
		t.Errorf("subtree_control is %q", got)
	}
}

// What may not be removed is named, with the command that would.
func TestSweepRefused(t *testing.T) {
	k := hybrid()
	dir := v1Home + "/readbench.x.4026531836.99.1"
	if err := k.Mkdir(dir); err != nil {
		t.Fatal(err)
	}
	k.faults["rmdir "+dir] = syscall.EACCES
	ctl, err := find(k, k.watch)
	if err != nil {
		t.Fatal(err)
	}
	removed, err := ctl.Sweep()
	if len(removed) > 0 || err == nil || !strings.Contains(err.Error(), "permission denied") || !strings.Contains(err.Error(), "sudo rmdir "+dir) {
		t.Errorf("%q, %v", removed, err)
	}
	k.faults["rmdir "+dir] = syscall.ENOENT // somebody was faster
	if removed, err = ctl.Sweep(); len(removed) > 0 || err != nil {
		t.Errorf("%q, %v", removed, err)
	}
	delete(k.faults, "rmdir "+dir)
	k.faults["read /proc/99/stat"] = syscall.EACCES // it may live
	if removed, err = ctl.Sweep(); len(removed) > 0 || err != nil {
		t.Errorf("%q, %v", removed, err)
	}
	delete(k.faults, "read /proc/99/stat")
	if removed, err = ctl.Sweep(); !slices.Equal(removed, []string{dir}) || err != nil {
		t.Errorf("%q, %v", removed, err)
	}
}

// Who is alive: somebody with the number, the start and a life.
func TestAlive(t *testing.T) {
	stat := func(state, start string) string {
		return "99 (x) " + state + " 1 0 0 0 -1 4194304 58 0 0 0 0 1 0 0 20 0 1 0 " + start + " 2379776 1"
	}
	for _, c := range []struct {
		rule, stat string
		want       bool
	}{
		{"the process itself", stat("S", "7"), true},
		{"a zombie", stat("Z", "7"), false},
		{"another one that got the number later", stat("R", "8"), false},
		{"one that cannot be understood: when in doubt", "99", true},
		{"nobody", "", false},
	} {
		k := user()
		if c.stat != "" {
			k.text["/proc/99/stat"] = c.stat
		}
		if got := alive(k, identity{"4026531836", 99, 7}); got != c.want {
			t.Errorf("%s: alive is %v", c.rule, got)
		}
	}
}
