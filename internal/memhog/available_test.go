package memhog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree is files below a root directory.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func meminfo(available string) string {
	return "MemTotal:       24683528 kB\nMemFree:        22937604 kB\nMemAvailable:   " + available + " kB\nBuffers:  1 kB\n"
}

// What is available is what the machine has, or what a group has left to its limit.
func TestAvailable(t *testing.T) {
	const cgroup2 = "25 23 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
	for _, c := range []struct {
		rule  string
		files map[string]string
		want  int64
		err   string
	}{
		{"no control groups", map[string]string{"proc/meminfo": meminfo("1000")}, 1000 << 10, ""},
		{"a group without a limit", map[string]string{
			"proc/meminfo": meminfo("1000"), "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": cgroup2,
			"sys/fs/cgroup/cgroup.controllers": "memory\n", "sys/fs/cgroup/a/cgroup.type": "domain\n", "sys/fs/cgroup/a/memory.max": "max\n",
		}, 1000 << 10, ""},
		{"a group near its limit", map[string]string{
			"proc/meminfo": meminfo("1000"), "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": cgroup2,
			"sys/fs/cgroup/cgroup.controllers": "memory\n", "sys/fs/cgroup/a/cgroup.type": "domain\n",
			"sys/fs/cgroup/a/memory.max": "5000\n", "sys/fs/cgroup/a/memory.current": "4500\n",
			"sys/fs/cgroup/a/memory.events": "max 0\noom_kill 0\n", "sys/fs/cgroup/a/memory.stat": "anon 1\nfile 900\nactive_file 100\ninactive_file 200\n",
		}, 800, ""},
		{"a group that does not tell", map[string]string{
			"proc/meminfo": meminfo("1000"), "proc/self/cgroup": "0::/a\n", "proc/self/mountinfo": cgroup2,
			"sys/fs/cgroup/cgroup.controllers": "memory\n", "sys/fs/cgroup/a/cgroup.type": "domain\n", "sys/fs/cgroup/a/memory.max": "5000\n",
		}, 0, "memory.current"},
		{"another form", map[string]string{"proc/meminfo": meminfo("much")}, 0, "not a number"},
		{"below zero", map[string]string{"proc/meminfo": meminfo("-1")}, 0, "not a number"},
		{"an old kernel", map[string]string{"proc/meminfo": "MemTotal: 1 kB\n"}, 0, "no MemAvailable"},
		{"no meminfo", nil, 0, "meminfo"},
	} {
		got, err := Available(tree(t, c.files))
		if c.err == "" && (err != nil || got != c.want) {
			t.Errorf("%s: %d, %v, want %d", c.rule, got, err, c.want)
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %d, %v, want %q", c.rule, got, err, c.err)
		}
	}
}

func FuzzMemAvailable(f *testing.F) {
	f.Add(meminfo("1000"))
	f.Add("MemAvailable: 9007199254740993 kB\n")
	f.Add("MemAvailable:\n")
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := memAvailable(text); err == nil && (n < 0 || n%1024 != 0) {
			t.Errorf("%q: %d", text, n)
		}
	})
}
