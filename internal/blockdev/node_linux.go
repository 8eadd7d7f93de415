package blockdev

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A node is what is asked of a file before its stack is followed.
type node struct {
	dev      string // "major:minor" of the file system
	device   string // "major:minor" of the file itself if it is a block device, else ""
	regular  bool
	buffered bool // direct reads of it go through the page cache
	mount    int  // ID of its mount, 0 if that is not told
	// What tells the layers' files of an overlay apart.
	size, blocks uint64
	mtime        int64 // ns
}

// look asks a file that is open; proc is where the proc file system is mounted.
func look(f *os.File, proc string) (node, error) {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return node{}, fmt.Errorf("fstat %s: %w", f.Name(), err)
	}
	kind := st.Mode & unix.S_IFMT
	n := node{
		dev: number(uint64(st.Dev)), regular: kind == unix.S_IFREG,
		size: uint64(st.Size), blocks: uint64(st.Blocks), mtime: st.Mtim.Nano(),
		mount: mountID(filepath.Join(proc, "self/fdinfo", strconv.Itoa(int(f.Fd())))),
	}
	if kind == unix.S_IFBLK {
		n.device = number(uint64(st.Rdev))
	}
	var stx unix.Statx_t
	if err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_DIOALIGN, &stx); err == nil { // Linux 6.1
		n.buffered = n.regular && stx.Mask&unix.STATX_DIOALIGN != 0 && stx.Dio_offset_align == 0
	}
	return n, nil
}

func number(dev uint64) string { return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev)) }

// lookPath is look by name. It opens nothing but the name (O_PATH), which cannot block on a device or a FIFO.
func lookPath(path, proc string) (node, error) {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return node{}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	return look(f, proc)
}

// mountID is the mount that a descriptor was opened through: the number of its device does not tell it on btrfs and overlayfs.
func mountID(fdinfo string) int {
	b, err := os.ReadFile(fdinfo)
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if id, ok := strings.CutPrefix(line, "mnt_id:"); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(id))
			return n
		}
	}
	return 0
}
