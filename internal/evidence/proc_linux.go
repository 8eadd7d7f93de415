package evidence

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

// readProc fills in what the proc file system tells, which is at a path; device may be "".
func readProc(proc, device string, c *Counters) error {
	root, err := procfs.NewFS(proc)
	if err != nil {
		return fmt.Errorf("counters: %w", err)
	}
	self, err := root.Proc(os.Getpid())
	if err != nil {
		return fmt.Errorf("counters of this process: %w", err)
	}
	io, err := self.IO()
	if err != nil {
		return fmt.Errorf("device bytes of this process (%s/self/io, CONFIG_TASK_IO_ACCOUNTING): %w", proc, err)
	}
	c.DeviceBytes, c.ReadSyscalls = io.ReadBytes, io.SyscR
	if device == "" {
		return nil
	}
	disks, err := blockdevice.NewFS(proc, "/sys")
	if err != nil {
		return fmt.Errorf("disk statistics: %w", err)
	}
	stats, err := disks.ProcDiskstats()
	if err != nil {
		return fmt.Errorf("disk statistics: %w", err)
	}
	for _, d := range stats {
		if d.DeviceName == device {
			c.Disk.Weighted = time.Duration(d.WeightedIOTicks) * time.Millisecond
			return nil
		}
	}
	return fmt.Errorf("disk statistics: no device %q in %s/diskstats", device, proc)
}
