package memlimit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/readbench/suite/internal/sh"
)

// A Group is a control group made for this process, which is in it until Close. It is safe for concurrent use.
type Group struct {
	c       *Controller
	dir     string
	pid     int
	enabled bool // the memory controller was switched on for the parent's children

	mu      sync.Mutex
	janitor closer // nil once the group is gone
}

// Join makes a group and moves this process, all of its threads, into it, without a limit yet. The label, of
// a…z, 0…9 and '-', is for people who look at the machine's groups. The caller closes the group; whatever
// happens to the process before, a janitor removes it (see the package comment).
//
// An error that wraps ErrUnsupported says that this process may not, what was refused, and what would help; all
// is then as it was before.
func (c *Controller) Join(label string) (_ *Group, err error) {
	if !validLabel(label) {
		return nil, fmt.Errorf("joining a group with the label %q: a label is up to 64 of a…z, 0…9 and '-'", label)
	}
	now, err := find(c.files, c.watch)
	if err != nil {
		return nil, err
	}
	if now.home != c.home {
		if _, ours := parseName(path.Base(now.home)); ours {
			return nil, fmt.Errorf("joining a group: this process is in one already, %s: close that first", now.home)
		}
		return nil, fmt.Errorf("joining a group: this process was in %s, and is in %s now: find its controller again", c.home, now.home)
	}
	if _, ours := parseName(path.Base(c.home)); ours {
		return nil, fmt.Errorf("joining a group: this process was started inside of one, %s: groups within groups are not made", c.home)
	}
	id, err := self(c.files)
	if err != nil {
		return nil, fmt.Errorf("joining a group: %w", err)
	}
	g := &Group{c: c, pid: id.pid, dir: path.Join(c.parent, groupName(label, id))}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.undo())
		}
	}()
	if err := g.make(); err != nil {
		return nil, err
	}
	if err := g.enter(); err != nil {
		return nil, err
	}
	return g, nil
}

// make makes the group, its janitor first.
func (g *Group) make() (err error) {
	c := g.c
	if c.parent == path.Dir(c.mount) {
		return c.refused(fmt.Errorf("this process is in the topmost group that is seen here, %s, and a group with processes in it has no limited children", c.home), remedyTopmost)
	}
	control := ""
	if _, isV2 := c.version.(v2); isV2 {
		if g.enabled, err = c.enable(); err != nil {
			return err
		}
		if g.enabled {
			control = c.control()
		}
	}
	if g.janitor, err = c.watch(watched{group: g.dir, home: c.home, events: c.version.oomEvents(), control: control}); err != nil {
		return unsupported("starting the shell that removes the group %s when this process ends: %w", g.dir, err)
	}
	if err := c.files.Mkdir(g.dir); err != nil {
		return c.refused(err, remedyRights)
	}
	return nil
}

// enter moves this process into the group.
func (g *Group) enter() error {
	procs := path.Join(g.dir, "cgroup.procs")
	if err := g.c.files.Write(procs, strconv.Itoa(g.pid)); err != nil {
		return g.c.refused(err, remedyRights)
	}
	members, err := g.members()
	if err == nil && !slices.Contains(members, strconv.Itoa(g.pid)) {
		err = fmt.Errorf("%s: this process, %d, was moved in and is not there: %q", procs, g.pid, members)
	}
	return err
}

func (g *Group) members() ([]string, error) {
	text, err := g.c.files.Read(path.Join(g.dir, "cgroup.procs"))
	return strings.Fields(text), err
}

func (c *Controller) control() string { return path.Join(c.parent, "cgroup.subtree_control") }

// enable has memory carried by the children of c.parent, of version 2, and says whether that is new.
func (c *Controller) enable() (bool, error) {
	text, err := c.files.Read(c.control())
	if err != nil {
		return false, c.refused(err, remedyRights)
	}
	if slices.Contains(strings.Fields(text), "memory") {
		return false, nil
	}
	if text, err = c.files.Read(path.Join(c.parent, "cgroup.controllers")); err != nil {
		return false, c.refused(err, remedyRights)
	}
	if !slices.Contains(strings.Fields(text), "memory") {
		return false, c.refused(fmt.Errorf("%s has no memory controller to pass on, only %q", c.parent, strings.TrimSpace(text)), remedyDelegate)
	}
	if err := c.files.Write(c.control(), "+memory"); err != nil {
		return false, c.refused(err, remedyRights)
	}
	return true, nil
}

// Limit sets the limit of the group's memory, in bytes (rounded down to a page), and forbids it to swap. A limit
// that leaves no room for the process itself is refused with a TooSmallError. One above what the process is bound by already would
// not be the one that counts: that, or swap that cannot be forbidden, is a LimitError. It may be called again. After
// an error the process is still in the group.
func (g *Group) Limit(bytes int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.janitor == nil {
		return errClosed
	}
	bytes -= bytes % int64(os.Getpagesize())
	held, err := g.c.own()
	if err != nil {
		return fmt.Errorf("limiting memory: %w", err)
	}
	u, err := g.c.version.usage(g.c.files, g.dir)
	if err != nil {
		return fmt.Errorf("limiting memory: %w", err)
	}
	held = max(held, u.Anon) // other processes may be in the group by now: children of this one
	if least := roundUp(held + Headroom); bytes < least {
		return &TooSmallError{Limit: bytes, Own: held, Least: least}
	}
	bound, dir, err := g.c.Bound()
	if err != nil {
		return err
	}
	if bytes > bound {
		return &LimitError{bytes, fmt.Errorf("this process is bound to %d already, by %s, and a group cannot have more; what would help: a limit of at most that, or (in a container, --memory=%[3]d when it is started) echo %[3]d | sudo tee %[4]s",
			bound, path.Join(dir, g.c.version.limitFile()), bytes, sh.Quote(path.Join(dir, g.c.version.limitFile())))}
	}
	if err := g.c.version.setLimit(g.c.files, g.dir, bytes); errors.Is(err, ErrUnsupported) {
		return &LimitError{bytes, err}
	} else if err != nil {
		err = fmt.Errorf("limiting the memory of %s to %d bytes: %w", g.dir, bytes, err)
		if errors.Is(err, syscall.EBUSY) {
			err = fmt.Errorf("%w (it holds %d that cannot be reclaimed, of which locked memory is a part)", err, u.Current-u.Reclaimable)
		}
		return err
	}
	return nil
}

var errClosed = errors.New("the memory-limited group is closed")

// Usage asks the kernel what the group holds, and what happened in it.
func (g *Group) Usage() (Usage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.janitor == nil {
		return Usage{}, errClosed
	}
	members, err := g.members()
	if err == nil && !slices.Contains(members, strconv.Itoa(g.pid)) {
		err = fmt.Errorf("this process is no longer in the group %s: somebody moved it, and no limit holds", g.dir)
	}
	if err != nil {
		return Usage{}, fmt.Errorf("usage of a memory-limited group: %w", err)
	}
	u, err := g.c.version.usage(g.c.files, g.dir)
	if err != nil {
		err = fmt.Errorf("usage of a memory-limited group: %w", err)
	}
	return u, err
}

// Dir is the group's directory.
func (g *Group) Dir() string { return g.dir }

// Close lifts the limit, moves this process, and what it started meanwhile, back to where it was, and removes the
// group. Afterwards it does nothing; after an error it may be tried again, and the janitor does it at last.
func (g *Group) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.janitor == nil {
		return nil
	}
	if err := g.c.version.lift(g.c.files, g.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("lifting the memory limit of %s: %w", g.dir, err)
	}
	return g.undo()
}

// undo takes back what make and enter did, as far as they came.
func (g *Group) undo() error {
	if err := g.remove(); err != nil {
		return fmt.Errorf("removing the memory-limited group: %w", err)
	}
	if g.enabled && !g.c.neighbours() {
		if err := g.c.files.Write(g.c.control(), "-memory"); err != nil {
			return fmt.Errorf("removing the memory-limited group: %w", err)
		}
	}
	g.enabled = false
	if g.janitor == nil {
		return nil
	}
	janitor := g.janitor
	g.janitor = nil
	return janitor.Close()
}

// remove moves everybody home and removes the group. A process that is being started or is ending may be in the
// way for a moment.
func (g *Group) remove() error {
	const attempts, pause = 100, 10 * time.Millisecond
	for try := 1; ; try++ {
		members, err := g.members()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, pid := range members {
			// ESRCH: it ended meanwhile.
			if moveErr := g.c.files.Write(path.Join(g.c.home, "cgroup.procs"), pid); moveErr != nil && !errors.Is(moveErr, syscall.ESRCH) {
				err = errors.Join(err, fmt.Errorf("moving process %s back: %w", pid, moveErr))
			}
		}
		if err == nil {
			if err = g.c.files.Rmdir(g.dir); err == nil || errors.Is(err, fs.ErrNotExist) {
				return nil
			}
		}
		if try == attempts || !errors.Is(err, syscall.EBUSY) {
			return err
		}
		time.Sleep(pause)
	}
}

// neighbours says whether the memory controller of the parent's children is of use to other processes of ours.
func (c *Controller) neighbours() bool {
	dirs, err := c.files.Dirs(c.parent)
	return err != nil || slices.ContainsFunc(dirs, func(name string) bool { _, ours := parseName(name); return ours })
}

// self is who this process is.
func self(f files) (identity, error) {
	text, err := f.Read("/proc/self/stat")
	if err != nil {
		return identity{}, err
	}
	id, _, err := parseStat(text)
	if err != nil {
		return id, err
	}
	link, err := f.Link("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return id, err
	}
	_, number, ok := strings.Cut(strings.TrimSuffix(link, "]"), ":[")
	if !ok || strings.Trim(number, "0123456789") != "" {
		return id, fmt.Errorf("/proc/self/ns/pid: not the form of a namespace: %q", link)
	}
	id.namespace = number
	return id, nil
}
