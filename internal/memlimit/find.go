package memlimit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Find finds out what carries memory, below a root directory that has proc and sys: "/" is this machine, and
// any other is a recorded one, which can be asked, but not joined. An error that wraps ErrUnsupported says that
// nothing does, and why.
func Find(dir string) (*Controller, error) {
	watch := startJanitor
	if dir != "/" {
		watch = func(watched) (closer, error) { return nil, fmt.Errorf("%s is not the root of this machine", dir) }
	}
	return find(root(dir), watch)
}

func find(f files, watch func(watched) (closer, error)) (*Controller, error) {
	groups, err := f.Read("/proc/self/cgroup")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, unsupported("looking for control groups: %w; this kernel has none", err)
	}
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	mountinfo, err := f.Read("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("looking for control groups: %w", err)
	}
	mounts := parseMounts(mountinfo)
	c := &Controller{files: f, watch: watch}
	unified, hasUnified := groupOf(groups, "")
	if group, ok := groupOf(groups, "memory"); ok {
		// What version 1 carries, version 2 cannot.
		c.version, c.others = v1{}, "alone"
		if hasUnified {
			c.others = "version 2 is there, too, without memory"
		}
		if err := c.place(mounts, group, func(m mount) bool { return m.kind == "cgroup" && slices.Contains(m.options, "memory") }); err != nil {
			return nil, err
		}
		c.parent = c.home
		return c, nil
	}
	if !hasUnified {
		return nil, unsupported("looking for control groups that carry memory: neither version 1 nor version 2 has any here; " +
			"what would help: a kernel with CONFIG_MEMCG, booted without cgroup_disable=memory (on some boards with cgroup_enable=memory)")
	}
	c.version, c.others = v2{}, "alone"
	if slices.ContainsFunc(mounts, func(m mount) bool { return m.kind == "cgroup" }) {
		c.others = "version 1 is there, too, without memory"
	}
	if err := c.place(mounts, unified, func(m mount) bool { return m.kind == "cgroup2" }); err != nil {
		return nil, err
	}
	carried, err := f.Read(path.Join(c.mount, "cgroup.controllers"))
	if err != nil {
		return nil, unsupported("looking for the controllers of version 2: %w", err)
	}
	if !slices.Contains(strings.Fields(carried), "memory") {
		return nil, unsupported("looking for control groups that carry memory: version 2 at %s has the controllers %q, without memory, and version 1 has no memory either; "+
			"what would help: a kernel with CONFIG_MEMCG, booted without cgroup_disable=memory (on some boards with cgroup_enable=memory), or a container to which memory is delegated", c.mount, strings.TrimSpace(carried))
	}
	c.parent = path.Dir(c.home)
	if c.home == c.mount && c.isRoot() {
		c.parent = c.home
	}
	return c, nil
}

// place finds where the hierarchy, and in it the group of this process, is seen.
func (c *Controller) place(mounts []mount, group string, right func(mount) bool) error {
	for _, m := range mounts {
		if !right(m) {
			continue
		}
		if dir, ok := m.dir(group); ok {
			c.mount, c.home = m.point, dir
			return nil
		}
	}
	return unsupported("looking for the group %s of this process (%v): it is not below any place where its hierarchy is mounted; "+
		"what would help: mount it (in a container: docker run --privileged, or a runtime that mounts /sys/fs/cgroup)", group, c.version)
}

// isRoot says whether c.home, of version 2, is the root of the whole hierarchy, and not of a container's part
// of it.
func (c *Controller) isRoot() bool {
	_, err := c.files.Read(path.Join(c.home, "cgroup.type"))
	return errors.Is(err, fs.ErrNotExist)
}
