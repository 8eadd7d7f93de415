package memlimit

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"syscall"

	"github.com/readbench/suite/internal/sh"
)

type remedy int

const (
	remedyRights   remedy = iota // the user may not
	remedyDelegate               // memory is not passed on to where this process is
	remedyTopmost                // a container's only group is full of processes
)

// refused says that no group could be made, which call was refused, and which commands would help.
func (c *Controller) refused(cause error, r remedy) error {
	return unsupported("making a memory-limited group for this process (%v): tried and refused: %w; what would help, COMMAND being what you run, is one of:\n%s",
		c, cause, strings.Join(c.remedies(cause, r), "\n"))
}

func (c *Controller) remedies(cause error, r remedy) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, "\t"+fmt.Sprintf(format, args...)) }
	_, isV1 := c.version.(v1)
	_, err := c.files.Dirs("/run/systemd/system")
	systemd := err == nil
	readOnly := errors.Is(cause, syscall.EROFS)

	if r == remedyTopmost && !readOnly {
		add(`mkdir %[1]s/init && for p in $(cat %[1]s/cgroup.procs); do echo "$p" >%[1]s/init/cgroup.procs; done; echo +memory >%[1]s/cgroup.subtree_control; COMMAND`, sh.Quote(c.home))
	}
	if systemd && !isV1 && !readOnly {
		add("systemd-run --user --scope -p Delegate=yes COMMAND   # systemd gives users a part of the hierarchy of their own")
	}
	if systemd && !readOnly {
		add("sudo systemd-run --scope -p MemoryMax=BYTES -p MemorySwapMax=0 COMMAND   # limits all of COMMAND from outside")
	}
	if r == remedyRights && !readOnly {
		if isV1 {
			own := sh.Quote(c.mount) + "/readbench-of-$USER"
			add(`sudo mkdir %[1]s && sudo chown -R $USER %[1]s && echo $$ | sudo tee %[1]s/cgroup.procs && COMMAND   # a group of your own`, own)
		}
		add("sudo COMMAND")
	}
	if r == remedyDelegate && !isV1 {
		add("sudo sh -c %s && COMMAND   # and in each group above it first, from the top", sh.Quote("echo +memory >"+sh.Quote(path.Join(path.Dir(c.parent), "cgroup.subtree_control"))))
	}
	if readOnly || r == remedyTopmost {
		add("docker run --memory=BYTES --memory-swap=BYTES … COMMAND   # limits the container from outside")
	}
	if readOnly {
		add("docker run --privileged … COMMAND   # its control groups can be written then")
	}
	return lines
}
