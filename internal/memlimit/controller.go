package memlimit

import (
	"fmt"
	"path"
)

// A Controller is the hierarchy of control groups that carries memory, as this process is in it. It does not
// change, and is safe for concurrent use.
type Controller struct {
	files   files
	version version
	others  string // what the other version does here, for String
	mount   string // where the hierarchy is seen
	home    string // directory of the group that this process is in
	parent  string // directory that a new group is made in

	watch func(watched) (closer, error) // starts a janitor
}

// String names what was found: the version, and where.
func (c *Controller) String() string {
	return fmt.Sprintf("memory by %v (%s), mounted at %s, this process in %s", c.version, c.others, c.mount, c.home)
}

// Least is the smallest limit that leaves room for what this process holds now and Headroom, in bytes.
func (c *Controller) Least() (int64, error) {
	n, err := c.own()
	return roundUp(n + Headroom), err
}

func (c *Controller) own() (int64, error) {
	status, err := c.files.Read("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return own(status)
}

const page = 64 << 10 // a multiple of every page size

func roundUp(n int64) int64 { return (n + page - 1) / page * page }

// Bound is the smallest limit of the group that this process is in and its ancestors, in bytes, and the directory
// of the group that has it; Unlimited if there is none.
func (c *Controller) Bound() (limit int64, dir string, err error) {
	limit = Unlimited
	err = c.ancestors(func(d string) error {
		n, err := c.version.limit(c.files, d)
		if err == nil && n < limit {
			limit, dir = n, d
		}
		return err
	})
	return limit, dir, err
}

// Available is how many bytes this process could take until a group that it is in, or an ancestor, is at its
// limit with no page cache left to reclaim; Unlimited if none has a limit.
func (c *Controller) Available() (int64, error) {
	available := int64(Unlimited)
	err := c.ancestors(func(dir string) error {
		limit, err := c.version.limit(c.files, dir)
		if err != nil || limit == Unlimited {
			return err
		}
		u, err := c.version.usage(c.files, dir)
		if err != nil {
			return err
		}
		available = min(available, max(0, limit-(u.Current-u.Reclaimable)))
		return nil
	})
	return available, err
}

// ancestors calls f for the group that this process is in and all above it, as far as they are seen.
func (c *Controller) ancestors(f func(dir string) error) error {
	for dir := c.home; ; dir = path.Dir(dir) {
		if err := f(dir); err != nil {
			return fmt.Errorf("memory limits of this process: %w", err)
		}
		if dir == c.mount {
			return nil
		}
	}
}
