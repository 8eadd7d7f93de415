package evidence

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"
)

func (s Source) readProc(c *Counters) error {
	root, err := procfs.NewFS(s.Proc)
	if err != nil {
		return fmt.Errorf("counters: %w", err)
	}
	self, err := root.Proc(os.Getpid())
	if err != nil {
		return fmt.Errorf("counters of this process: %w", err)
	}
	io, err := self.IO()
	if err != nil {
		return fmt.Errorf("device bytes of this process (%s/self/io, CONFIG_TASK_IO_ACCOUNTING): %w", s.Proc, err)
	}
	c.DeviceBytes, c.ReadSyscalls = io.ReadBytes, io.SyscR
	if s.Device == "" {
		return nil
	}
	disks, err := blockdevice.NewFS(s.Proc, "/sys")
	if err != nil {
		return fmt.Errorf("disk statistics: %w", err)
	}
	stats, err := disks.ProcDiskstats()
	if err != nil {
		return fmt.Errorf("disk statistics: %w", err)
	}
	for _, d := range stats {
		if d.DeviceName == s.Device {
			c.Disk.Weighted = time.Duration(d.WeightedIOTicks) * time.Millisecond
			return nil
		}
	}
	return fmt.Errorf("disk statistics: no device %q in %s/diskstats", s.Device, s.Proc)
}
