package blockdev

import (
	"net"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/readbench/suite/internal/sh"
)

// inMemory are the devices at the bottom of a stack that are, or may be, this machine's memory: by their names in sysfs.
var inMemory = []struct {
	name *regexp.Regexp
	why  string // goes on after the name
}{
	{regexp.MustCompile(`^ram\d+$`), "is a ram disk; use a file on a disk"},
	{regexp.MustCompile(`^zram\d+$`), "is a ram disk, compressed; use a file on a disk"},
	{regexp.MustCompile(`^nullb\d+$`), "is a null block device, which has no store but memory; use a file on a disk"},
	{regexp.MustCompile(`^zd\d+$`), "is a volume of ZFS, which has a cache of its own in this machine's memory that cannot be emptied; use a file on a disk"},
	{regexp.MustCompile(`^ublkb\d+$`), "is served by a process of this machine, which may answer from memory; use a file on the disk itself"},
	{regexp.MustCompile(`^nbd\d+$`), "is served by another process, which may run on this machine and answer from its memory; measure on the disk itself"},
}

const (
	ramSCSI  = "is a disk that the kernel imitates in memory (scsi_debug); use a file on a disk"
	loopSCSI = "is served by this machine itself (tcm_loop), which may answer from memory; use a file on the disk itself"
	served   = "is served by this machine itself, which may answer from its memory; use a file on the disk itself"
)

// judgeDevice looks whether a device at the bottom may be memory. told says whether sysfs told what it lies on.
func (w *walk) judgeDevice(disk string, told bool) {
	name, base := plain(disk), filepath.Base(disk)
	for _, k := range inMemory {
		if k.name.MatchString(base) {
			w.because("%s %s", name, k.why)
		}
	}
	mapped := strings.HasPrefix(base, "dm-") || strings.HasPrefix(base, "md")
	switch part := pathPart(disk); {
	case mapped && told:
		w.because("%s lies on no other device, so what it delivers comes from no disk; use a file on a disk", name)
	case strings.HasPrefix(base, "pmem") && part("e820_pmem") != "":
		w.because("%s is a piece of this machine's memory (memmap=); use a file on a disk", name)
	case part("pseudo_") != "":
		w.because("%s %s", name, ramSCSI)
	case part("tcm_loop_") != "":
		w.because("%s %s", name, loopSCSI)
	case part("session") != "": // iSCSI
		connection := "connection" + strings.TrimPrefix(part("session"), "session") + ":0"
		if ours(content(w.sys, "class/iscsi_connection", connection, "address")) {
			w.because("%s %s", name, served)
		}
	case strings.HasPrefix(base, "nvme"):
		w.judgeNVMe(name, filepath.Dir(disk))
	}
}

// pathPart finds the directory on the way to a device whose name begins with a prefix.
func pathPart(dir string) func(prefix string) string {
	parts := strings.Split(dir, "/")
	return func(prefix string) string {
		i := slices.IndexFunc(parts, func(p string) bool { return strings.HasPrefix(p, prefix) })
		if i < 0 {
			return ""
		}
		return parts[i]
	}
}

// judgeNVMe looks at the controllers of a namespace: parent is one, or the subsystem that lists them.
func (w *walk) judgeNVMe(name, parent string) {
	controllers, _ := filepath.Glob(filepath.Join(parent, "nvme*"))
	for _, c := range append(controllers, parent) {
		address := content(c, "address") // traddr=192.0.2.1,trsvcid=4420
		if _, at, ok := strings.Cut(address, "traddr="); ok {
			address, _, _ = strings.Cut(at, ",")
		}
		if transport := content(c, "transport"); transport == "loop" || transport != "pcie" && ours(address) {
			w.because("%s %s", name, served)
		}
	}
}

// judgeFileSystem looks whether a file system keeps its data, or a cache of its own, in this machine's memory.
func (w *walk) judgeFileSystem(m mount, path string) {
	switch m.kind {
	case "tmpfs", "ramfs", "hugetlbfs", "devtmpfs":
		w.because("%s lies on %s, whose pages are the file; use a file system on a disk", sh.Quote(path), m.kind)
	case "zfs":
		w.because("%s lies on ZFS, which has a cache of its own in this machine's memory that cannot be emptied; use another file system", sh.Quote(path))
	case "nfs", "nfs4", "cifs", "smb3":
		if slices.ContainsFunc(m.values("addr"), ours) {
			w.because("%s lies on a network file system that this machine itself serves, perhaps from its memory; use the file where it lies", sh.Quote(path))
		}
	}
}

// ours reports whether an address is this machine's.
func ours(address string) bool {
	ip := net.ParseIP(address)
	if ip == nil {
		return false
	}
	if ip.IsLoopback() {
		return true
	}
	all, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(all, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}
