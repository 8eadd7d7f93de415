//go:build !386 && !arm && !mips && !mipsle

package prefetchmicro

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// hintLimit is how many bytes of a range the kernel reads for one hint: what the device takes in one request, or what is
// read ahead, whichever is more (force_page_cache_ra in mm/readahead.c). It is 0 if the device does not say, or is not
// the file's own, as on btrfs and overlayfs. sys is where sysfs is mounted.
func hintLimit(f *os.File, sys string) int64 {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0
	}
	dev := uint64(st.Dev)
	if isDevice(f) {
		dev = uint64(st.Rdev)
	}
	return queueLimit(sys, unix.Major(dev), unix.Minor(dev))
}

// queueLimit is the limit of a device, or of the disk that it is a partition of.
func queueLimit(sys string, major, minor uint32) int64 {
	dir, err := filepath.EvalSymlinks(filepath.Join(sys, "dev/block", fmt.Sprintf("%d:%d", major, minor)))
	if err != nil {
		return 0
	}
	if _, err := os.Stat(filepath.Join(dir, "partition")); err == nil {
		dir = filepath.Dir(dir)
	}
	limit := int64(0)
	for _, name := range []string{"read_ahead_kb", "max_sectors_kb"} {
		text, err := os.ReadFile(filepath.Join(dir, "queue", name))
		if err != nil {
			return 0
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		if err != nil {
			return 0
		}
		limit = max(limit, kib<<10)
	}
	return limit
}

func isDevice(fd *os.File) bool {
	st, err := fd.Stat()
	return err == nil && st.Mode()&os.ModeDevice != 0 && st.Mode()&os.ModeCharDevice == 0
}
