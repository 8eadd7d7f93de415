package memlimit

import (
	"path"
	"syscall"
	"testing"
)

// What both versions tell is read alike; what one does not tell is unknown.
func TestUsage(t *testing.T) {
	for _, c := range []struct {
		rule  string
		k     *kernel
		files map[string]string
		want  Usage
	}{
		{"version 1", hybrid(), map[string]string{
			"memory.usage_in_bytes": "100", "memory.max_usage_in_bytes": "200", "memory.failcnt": "3", "memory.limit_in_bytes": "4096",
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n",
			"memory.stat":        "cache 1\nrss 2\nworkingset_refault_file 3\ntotal_cache 10\ntotal_rss 20\ntotal_active_file 4\ntotal_inactive_file 5\ntotal_workingset_refault_file 30\n",
		}, Usage{Limit: 4096, Current: 100, Peak: 200, File: 10, Reclaimable: 9, Anon: 20, Events: Events{Refaults: 30, Scanned: Unknown, Stolen: Unknown, AtLimit: 3, OOMKills: 5}}},
		{"version 1 of old", hybrid(), map[string]string{
			"memory.usage_in_bytes": "100", "memory.max_usage_in_bytes": "200", "memory.failcnt": "3",
			"memory.oom_control": "oom_kill_disable 0\nunder_oom 0\n",
			"memory.stat":        "total_cache 10\ntotal_rss 20\ntotal_active_file 4\ntotal_inactive_file 5\n",
		}, Usage{Limit: Unlimited, Current: 100, Peak: 200, File: 10, Reclaimable: 9, Anon: 20, Events: Events{Refaults: Unknown, Scanned: Unknown, Stolen: Unknown, AtLimit: 3, OOMKills: Unknown}}},
		{"version 2", user(), map[string]string{
			"memory.current": "100", "memory.peak": "200", "memory.max": "8192",
			"memory.events": "low 1\nhigh 2\nmax 3\noom 4\noom_kill 5\noom_group_kill 6\n",
			"memory.stat":   "anon 20\nfile 10\nactive_file 4\ninactive_file 5\nworkingset_refault_anon 6\nworkingset_refault_file 30\npgscan 50\npgsteal 40\npgscan_direct 7\n",
		}, Usage{Limit: 8192, Current: 100, Peak: 200, File: 10, Reclaimable: 9, Anon: 20, Events: Events{Refaults: 30, Scanned: 50, Stolen: 40, AtLimit: 3, OOMKills: 5}}},
		{"version 2 of old", user(), map[string]string{
			"memory.current": "100", "memory.peak": "-",
			"memory.events": "low 1\nhigh 2\nmax 3\noom 4\n",
			"memory.stat":   "anon 20\nfile 10\nactive_file 4\ninactive_file 5\nworkingset_refault 30\n",
		}, Usage{Limit: Unlimited, Current: 100, Peak: Unknown, File: 10, Reclaimable: 9, Anon: 20, Events: Events{Refaults: 30, Scanned: Unknown, Stolen: Unknown, AtLimit: 3, OOMKills: Unknown}}},
	} {
		g := joinFake(t, c.k)
		for name, text := range c.files {
			if text == "-" {
				delete(c.k.text, path.Join(g.dir, name))
			} else {
				c.k.text[path.Join(g.dir, name)] = text + "\n"
			}
		}
		if got, err := g.Usage(); got != c.want || err != nil {
			t.Errorf("%s:\n%+v, %v, want\n%+v", c.rule, got, err, c.want)
		}
		c.k.text[path.Join(g.dir, "memory.stat")] = "anon 1\n"
		if got, err := g.Usage(); err == nil {
			t.Errorf("%s, without statistics: %+v", c.rule, got)
		}
	}
	a, b := Events{10, 20, 30, 40, 50}, Events{1, 2, Unknown, 4, 5}
	if got, want := a.Sub(b), (Events{9, 18, Unknown, 36, 45}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// What is available is bound by the group and by all above it; page cache does not count as taken.
func TestAvailable(t *testing.T) {
	const job = "/sys/fs/cgroup/memory/job"
	for _, c := range []struct {
		rule string
		k    *kernel
		want int64
	}{
		{"no limit", hybrid(), Unlimited},
		{"no limit, version 2", user(), Unlimited},
		{"an ancestor's limit, part of it page cache", with(hybrid(), map[string]string{
			job + "/memory.limit_in_bytes": "1000\n", job + "/memory.usage_in_bytes": "900\n",
			job + "/memory.stat": "total_cache 400\ntotal_rss 1\ntotal_active_file 100\ntotal_inactive_file 200\n"}), 400},
		{"more is taken than the limit", with(user(), map[string]string{v2Home + "/memory.max": "1000\n", v2Home + "/memory.current": "5000000\n"}), 0},
	} {
		ctl, err := find(c.k, c.k.watch)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ctl.Available(); got != c.want || err != nil {
			t.Errorf("%s: %d, %v, want %d", c.rule, got, err, c.want)
		}
	}
	ctl, err := find(failing(user(), "read */memory.max", syscall.EIO), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ctl.Available(); err == nil {
		t.Errorf("a limit that cannot be read: %d", got)
	}
}

// A recorded machine can be asked, but not joined.
func TestRecordedMachine(t *testing.T) {
	c, err := Find("testdata/hybrid-v1")
	if err != nil {
		t.Fatal(err)
	}
	if limit, _, err := c.Bound(); limit != Unlimited || err != nil {
		t.Errorf("%d, %v", limit, err)
	}
	if g, err := c.Join("x"); g != nil || err == nil {
		t.Errorf("joined: %v", err)
	}
}
