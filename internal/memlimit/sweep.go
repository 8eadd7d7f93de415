package memlimit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/sh"
)

// Sweep removes groups that dead processes have left, wherever they are in the hierarchy, and returns their
// directories. It touches no group of a live process, nor any whose process counts in another process namespace
// and so cannot be looked at from here. Processes that a dead one has left in its group stay there, without a
// limit: the error says so, and which groups could not be removed for other causes.
func (c *Controller) Sweep() (removed []string, err error) {
	me, err := self(c.files)
	if err != nil {
		return nil, fmt.Errorf("looking for groups of dead processes: %w", err)
	}
	var errs []error
	c.walk(c.mount, func(dir string, maker identity) {
		if maker.namespace != me.namespace || alive(c.files, maker) {
			return
		}
		switch left, err := c.discard(dir, maker); {
		case err != nil:
			errs = append(errs, fmt.Errorf("removing %s, left by process %d, which is dead: %w (sudo rmdir %s)", dir, maker.pid, err, sh.Quote(dir)))
		case left:
			removed = append(removed, dir)
		}
	})
	return removed, errors.Join(errs...)
}

// walk calls f for all groups of ours below dir. What vanishes meanwhile, or may not be looked at, is not ours
// to remove.
func (c *Controller) walk(dir string, f func(dir string, maker identity)) {
	names, err := c.files.Dirs(dir)
	if err != nil {
		return
	}
	for _, name := range names {
		sub := path.Join(dir, name)
		if maker, ours := parseName(name); ours {
			f(sub, maker)
			continue
		}
		c.walk(sub, f)
	}
}

// discard removes a group, and says whether it was there.
func (c *Controller) discard(dir string, maker identity) (bool, error) {
	err := c.files.Rmdir(dir)
	if err == nil {
		return true, nil
	}
	if errors.Is(err, fs.ErrNotExist) { // its janitor was faster
		return false, nil
	}
	members, readErr := c.files.Read(path.Join(dir, "cgroup.procs"))
	pids := strings.Fields(members)
	if readErr != nil || len(pids) == 0 || slices.Contains(pids, strconv.Itoa(maker.pid)) {
		return false, err
	}
	if liftErr := c.version.lift(c.files, dir); liftErr != nil {
		return false, errors.Join(err, liftErr)
	}
	return false, fmt.Errorf("%w: the processes %s, which it had started, live there; their limit is lifted", err, strings.Join(pids, " "))
}

// alive says whether a process of this namespace lives; one that got its number later is another one.
func alive(f files, id identity) bool {
	text, err := f.Read(fmt.Sprintf("/proc/%d/stat", id.pid))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // when in doubt, it does
	}
	got, dead, err := parseStat(text)
	return err != nil || !dead && got.start == id.start
}
