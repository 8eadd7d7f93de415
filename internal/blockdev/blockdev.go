// Package blockdev follows the stack of file systems and block devices under a file down to the devices that hold its
// bytes, and says where that may be this machine's own memory: there, a page that left the page cache comes back without
// any disk.
package blockdev

import (
	"slices"
	"strings"
)

// A Stack is what lies under a file. What could not be found out is empty, and Unseen says why.
type Stack struct {
	FileSystem string    // type of the file system that the file lies on, such as ext4, or "overlay on ext4"
	Devices    []*Device // those that the innermost file system lies on; none for one without a block device
	ReadAhead  string    // path of the file that has the file system's read-ahead, in KiB
	Memory     string    // why the bytes may come from this machine's memory, and the remedy; "" if nothing says so
	Unseen     string    // why the devices are not known
}

// A Device is a block device, or a file system without one that a loop device's file lies on.
type Device struct {
	Name  string    // as in /proc/diskstats
	Queue string    // path of its directory "queue", a partition's disk's; "" for a file system
	On    []*Device // those that it takes its bytes from; none at the bottom
}

// String is the chain down to the bottom: "vda", "loop0 on vda", "md0 on sda, sdb", "md0 on (dm-0 on sda), (dm-1 on sdb)".
func (d *Device) String() string {
	if len(d.On) == 0 {
		return d.Name
	}
	below := make([]string, len(d.On))
	for i, o := range d.On {
		if below[i] = o.String(); len(d.On) > 1 && len(o.On) > 0 {
			below[i] = "(" + below[i] + ")"
		}
	}
	return d.Name + " on " + strings.Join(below, ", ")
}

// Chain is the devices of the stack with what is below each; "" if none is known.
func (s Stack) Chain() string {
	var all []string
	for _, d := range s.Devices {
		all = append(all, d.String())
	}
	return strings.Join(all, ", ")
}

// Bottom are the devices at the bottom, each once, in the order in which they are found.
func (s Stack) Bottom() (all []*Device) {
	var walk func([]*Device)
	walk = func(ds []*Device) {
		for _, d := range ds {
			walk(d.On)
			if len(d.On) == 0 && !slices.ContainsFunc(all, func(o *Device) bool { return o.Name == d.Name }) {
				all = append(all, d)
			}
		}
	}
	walk(s.Devices)
	return all
}

// Counted is the name, in /proc/diskstats, of the one device whose counters are those of reads of the file: the one at
// the bottom or, if there are several, the one on top of them. It is "" if there is no such device.
func (s Stack) Counted() string {
	for _, ds := range [][]*Device{s.Bottom(), s.Devices} {
		if len(ds) == 1 && ds[0].Queue != "" {
			return ds[0].Name
		}
	}
	return ""
}
