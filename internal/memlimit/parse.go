package memlimit

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A mount is a line of /proc/self/mountinfo (proc_pid_mountinfo(5)).
type mount struct {
	root    string   // the directory of the mounted file system that is seen
	point   string   // where
	kind    string   // cgroup, cgroup2, …
	options []string // of the file system: with cgroup, the controllers
}

// dir is where the group with this path in its hierarchy is seen, if it is.
func (m mount) dir(group string) (string, bool) {
	rel, ok := strings.CutPrefix(group, m.root)
	if !ok || m.root != "/" && rel != "" && rel[0] != '/' || strings.Contains(group, "/..") {
		return "", false
	}
	return path.Join(m.point, rel), true
}

// parseMounts leaves out lines of another form.
func parseMounts(text string) (mounts []mount) {
	for line := range strings.Lines(text) {
		// 31 22 0:27 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(tail) < 3 {
			continue
		}
		mounts = append(mounts, mount{
			root: unescape(fields[3]), point: unescape(fields[4]), kind: tail[0], options: strings.Split(tail[2], ","),
		})
	}
	return mounts
}

// unescape replaces \ooo, octal, as mountinfo writes white space and backslashes.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// groupOf is the path of a process's group in the hierarchy of a controller, "" standing for version 2, as
// /proc/self/cgroup tells it (cgroups(7)).
func groupOf(text, controller string) (group string, ok bool) {
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3) // ID:controllers:path
		if len(fields) == 3 && strings.HasPrefix(fields[2], "/") && slices.Contains(strings.Split(fields[1], ","), controller) {
			return fields[2], true
		}
	}
	return "", false
}

// parseTable reads lines of a key and a number, as in memory.stat and memory.events.
func parseTable(text string) map[string]int64 {
	table := map[string]int64{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				table[key] = n
			}
		}
	}
	return table
}

// lookup is the first of keys in the table; Unknown if none is.
func lookup(table map[string]int64, keys ...string) int64 {
	for _, key := range keys {
		if n, ok := table[key]; ok {
			return n
		}
	}
	return Unknown
}

// An identity tells a process from all others, also from those that get its number later.
type identity struct {
	namespace string // number of the namespace that pid counts in
	pid       int
	start     uint64 // clock ticks since boot
}

// parseStat reads /proc/PID/stat. A zombie is dead.
func parseStat(text string) (id identity, dead bool, err error) {
	bad := fmt.Errorf("not the form of /proc/PID/stat: %q", text)
	open, end := strings.IndexByte(text, '('), strings.LastIndexByte(text, ')') // a command's name may hold both
	if open < 0 || end < open {
		return id, false, bad
	}
	const state, start = 0, 19 // fields 3 and 22 of the file
	fields := strings.Fields(text[end+1:])
	if len(fields) <= start {
		return id, false, bad
	}
	if id.pid, err = strconv.Atoi(strings.TrimSpace(text[:open])); err != nil || id.pid <= 0 {
		return id, false, bad
	}
	if id.start, err = strconv.ParseUint(fields[start], 10, 64); err != nil {
		return id, false, bad
	}
	return id, slices.Contains([]string{"Z", "X", "x"}, fields[state]), nil
}

// prefix starts the name of every group.
const prefix = "readbench"

// groupName is prefix.label.namespace.pid.start.
func groupName(label string, id identity) string {
	return fmt.Sprintf("%s.%s.%s.%d.%d", prefix, label, id.namespace, id.pid, id.start)
}

// parseName says which process made a group, if its name is one of ours.
func parseName(name string) (id identity, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) != 5 || !validLabel(parts[1]) || parts[2] == "" {
		return id, false
	}
	pid, err := strconv.Atoi(parts[3])
	start, err2 := strconv.ParseUint(parts[4], 10, 64)
	id = identity{parts[2], pid, start}
	return id, err == nil && err2 == nil && pid > 0 && groupName(parts[1], id) == name
}

func validLabel(label string) bool {
	return label != "" && len(label) <= 64 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// own is the memory that a process holds and that reclaim without swap cannot take, in bytes, from
// /proc/PID/status: anonymous and shared memory, page tables, what is swapped out now.
func own(status string) (int64, error) {
	sum := int64(0)
	for _, key := range []string{"RssAnon", "RssShmem", "VmPTE", "VmSwap"} {
		kib, ok := int64(0), false
		for line := range strings.Lines(status) {
			if rest, found := strings.CutPrefix(line, key+":"); found {
				n, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
				kib, ok = n, err == nil && n >= 0
			}
		}
		if !ok && key != "VmSwap" { // which a kernel without swap leaves out
			return 0, fmt.Errorf("no %s in /proc/self/status (Linux 4.5 and later tell it)", key)
		}
		sum += kib << 10
	}
	return sum, nil
}
