package memlimit

import (
	"strings"
	"testing"
)

func TestMountDir(t *testing.T) {
	for _, c := range []struct {
		rule, line, group, want string
	}{
		{"all of a hierarchy", "31 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "/a/b", "/sys/fs/cgroup/a/b"},
		{"its root", "31 22 0:27 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", "/", "/sys/fs/cgroup"},
		{"with optional fields", "31 22 0:27 / /cg rw shared:9 master:1 - cgroup cgroup rw,memory", "/a", "/cg/a"},
		{"a part, and the group is its top", "31 22 0:27 /docker/12 /cg ro - cgroup cgroup rw,memory", "/docker/12", "/cg"},
		{"a part, and the group is below", "31 22 0:27 /docker/12 /cg ro - cgroup cgroup rw,memory", "/docker/12/x", "/cg/x"},
		{"a part, and the group is elsewhere", "31 22 0:27 /docker/12 /cg ro - cgroup cgroup rw,memory", "/docker/123", ""},
		{"above the namespace's root", "31 22 0:27 / /cg rw - cgroup2 cgroup2 rw", "/../other", ""},
		{"a name with a space", `31 22 0:27 / /my\040cg rw - cgroup2 cgroup2 rw`, "/a", "/my cg/a"},
		{"a name with a backslash", `31 22 0:27 / /my\134cg rw - cgroup2 cgroup2 rw`, "/a", `/my\cg/a`},
	} {
		mounts := parseMounts(c.line + "\n")
		if len(mounts) != 1 {
			t.Errorf("%s: %d mounts in %q", c.rule, len(mounts), c.line)
			continue
		}
		if got, ok := mounts[0].dir(c.group); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: %s is seen at %q, %v, want %q", c.rule, c.group, got, ok, c.want)
		}
	}
	if got := parseMounts("\n31 22 0:27 / /cg\n31 22 0:27 / /cg rw - cgroup2\n - a b c\n"); len(got) > 0 {
		t.Errorf("lines of another form are mounts: %+v", got)
	}
}

func TestGroupOf(t *testing.T) {
	const text = "12:cpuset:/\n4:cpu,memory:/job:1/x\n1:name=systemd:/init\n0::/user.slice\n"
	for controller, want := range map[string]string{"memory": "/job:1/x", "": "/user.slice", "cpuset": "/", "mem": "", "pids": ""} {
		if got, ok := groupOf(text, controller); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %v, want %q", controller, got, ok, want)
		}
	}
}

func TestParseStat(t *testing.T) {
	rest := " 652 652 31039 0 -1 4194304 118 0 0 0 0 0 0 0 20 0 1 0 1113817 3133440 413"
	for _, c := range []struct {
		text string
		want identity
		dead bool
		ok   bool
	}{
		{"670 (cat) R" + rest, identity{pid: 670, start: 1113817}, false, true},
		{"670 (a) Z (b) S" + rest, identity{pid: 670, start: 1113817}, false, true},
		{"670 (cat) Z" + rest, identity{pid: 670, start: 1113817}, true, true},
		{"670 (cat) R 1 2 3", identity{}, false, false},
		{"670 cat R" + rest, identity{}, false, false},
		{"(670) R" + rest, identity{}, false, false},
		{"-1 (cat) R" + rest, identity{}, false, false},
		{"", identity{}, false, false},
	} {
		got, dead, err := parseStat(c.text)
		if (err == nil) != c.ok || c.ok && (got != c.want || dead != c.dead) {
			t.Errorf("%q: %+v, dead %v, %v; want %+v, %v", c.text, got, dead, err, c.want, c.dead)
		}
	}
}

func TestNames(t *testing.T) {
	id := identity{"4026531836", 12, 345}
	if got := groupName("pressure110", id); got != "readbench.pressure110.4026531836.12.345" {
		t.Errorf("%q", got)
	}
	for name, ok := range map[string]bool{
		"readbench.pressure110.4026531836.12.345":         true,
		"readbench.a-b.1.1.0":                             true,
		"readbench.pressure110.4026531836.12":             false,
		"readbench.pressure110.4026531836.12.345.6":       false,
		"readbench.pressure110.4026531836.+12.345":        false,
		"readbench.pressure110.4026531836.012.345":        false,
		"readbench.pressure110.4026531836.-12.345":        false,
		"readbench.pressure110..12.345":                   false,
		"readbench..4026531836.12.345":                    false,
		"readbench.Upper.4026531836.12.345":               false,
		"other.pressure110.4026531836.12.345":             false,
		"readbench-of-me":                                 false,
		"readbench.pressure110.4026531836.12.345 ":        false,
		"readbench.pressure110.4026531836.0.345":          false,
		"readbench.pressure110.4026531836.12.-1":          false,
		"readbench.pressure110.4026531836.12.99e9":        false,
		"xreadbench.pressure110.4026531836.12.345":        false,
		"readbench.a/../../x.4026531836.12.345":           false,
		"readbench." + strings.Repeat("x", 65) + ".1.1.1": false,
	} {
		if _, got := parseName(name); got != ok {
			t.Errorf("%q is ours: %v, want %v", name, got, ok)
		}
	}
}

func TestOwn(t *testing.T) {
	const status = "Name:\tx\nVmPTE:\t      48 kB\nRssAnon:\t     112 kB\nRssFile:\t    1584 kB\nRssShmem:\t       4 kB\nVmSwap:\t       8 kB\n"
	if got, err := own(status); got != (48+112+4+8)<<10 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := own(strings.ReplaceAll(status, "VmSwap:\t       8 kB\n", "")); got != (48+112+4)<<10 || err != nil {
		t.Errorf("a kernel without swap: %d, %v", got, err)
	}
	for _, bad := range []string{"", "RssAnon: 1 kB\n", strings.ReplaceAll(status, "112", "much"), strings.ReplaceAll(status, "112", "-1")} {
		if got, err := own(bad); err == nil {
			t.Errorf("%q: %d", bad, got)
		}
	}
}

// Whatever the kernel's files hold: no panic, and what is understood is of the right form.
func FuzzParse(f *testing.F) {
	f.Add("31 22 0:27 / /sys/fs/cgroup rw shared:9 - cgroup2 cgroup2 rw\n4:cpu,memory:/a\n", "readbench.x.1.2.3")
	f.Add("670 (cat) R 652 652 31039 0 -1 4194304 118 0 0 0 0 0 0 0 20 0 1 0 1113817 3133440", "readbench.x.1.02.3")
	f.Add("RssAnon:\t 1 kB\nRssShmem: 2 kB\nVmPTE: 3 kB\noom_kill 4\n"+`1 2 3 \057 \057x\ y - a b c`, "")
	f.Fuzz(func(t *testing.T, text, name string) {
		for _, m := range parseMounts(text) {
			if dir, ok := m.dir("/a"); ok && dir == "" {
				t.Errorf("%+v: nowhere", m)
			}
		}
		if group, ok := groupOf(text, "memory"); ok && group[0] != '/' {
			t.Errorf("group %q", group)
		}
		if id, _, err := parseStat(text); err == nil && id.pid <= 0 {
			t.Errorf("%+v", id)
		}
		if n, err := own(text); err == nil && n < 0 {
			t.Errorf("own %d", n)
		}
		parseTable(text)
		if id, ok := parseName(name); ok {
			if again, ok := parseName(groupName(strings.Split(name, ".")[1], id)); !ok || again != id {
				t.Errorf("%q: %+v, and %+v", name, id, again)
			}
		}
	})
}
