package blockdev

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readbench/suite/internal/testfile"
)

// A tree is what is in a sys file system, path by path, as testfile.Tree makes it.
type tree map[string]string

// device adds a device with a queue, as a disk of a bus has it; more are further files of its directory.
func (t tree) device(number, dir string, more tree) tree {
	t["dev/block/"+number] = "-> ../../devices/" + dir
	t["devices/"+dir+"/queue/rotational"] = "0\n"
	t["devices/"+dir+"/dev"] = number + "\n"
	for name, text := range more {
		t["devices/"+dir+"/"+name] = text
	}
	return t
}

// virtual adds a device without a bus, with slaves.
func (t tree) virtual(number, name string, slaves ...string) tree {
	t["devices/virtual/block/"+name+"/slaves/"] = ""
	for _, s := range slaves {
		t["devices/virtual/block/"+name+"/slaves/"+s[strings.LastIndexByte(s, '/')+1:]] = "-> ../../../../" + s
	}
	return t.device(number, "virtual/block/"+name, nil)
}

func (t tree) partition(number, disk, name string) tree {
	return t.device(number, disk+"/"+name, tree{"partition": "1\n"}).without("devices/" + disk + "/" + name + "/queue/rotational")
}

func (t tree) without(name string) tree {
	delete(t, name)
	return t
}

func (t tree) loop(number, name, file, dio string) tree {
	more := tree{"loop/backing_file": file + "\n"}
	if dio != "" {
		more["loop/dio"] = dio + "\n"
	}
	return t.device(number, "virtual/block/"+name, more)
}

func (t tree) with(more tree) tree {
	maps.Copy(t, more)
	return t
}

// sda is a disk with a partition, vda one without.
func disks() tree {
	return tree{}.device("8:0", "pci0/ata1/host0/block/sda", nil).partition("8:1", "pci0/ata1/host0/block/sda", "sda1").
		device("8:16", "pci0/ata2/host1/block/sdb", nil).device("254:0", "pci0/virtio3/block/vda", nil)
}

// on is a regular file on a device.
func on(dev string) node { return node{dev: dev, regular: true, size: 4096, blocks: 8, mtime: 1} }

const (
	rootMount = "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,discard\n"
	tmpMount  = "30 27 0:30 / /tmp rw - tmpfs tmpfs rw,size=8g\n"
)

// data is the file that all cases ask for, on the device of the mount at /data.
const data = "/data/my file"

// dataMount is the mount at /data.
func dataMount(dev, kind, source, options string) string {
	return "40 27 " + dev + " / /data rw - " + kind + " " + source + " " + options + "\n"
}

func TestRecordedStacks(t *testing.T) {
	for _, c := range []struct {
		rule   string
		mounts string
		sys    tree
		file   node
		others map[string]node // that may be looked at
		chain  string
		fs     string
		count  string // the device in /proc/diskstats
		memory string // part of the cause, "" if the device is no memory
		unseen string
	}{
		{rule: "a file on a disk", mounts: dataMount("254:0", "ext4", "/dev/vda", "rw"), sys: disks(), file: on("254:0"), chain: "vda", fs: "ext4", count: "vda"},
		{rule: "a partition keeps its name", mounts: dataMount("8:1", "xfs", "/dev/sda1", "rw"), sys: disks(), file: on("8:1"), chain: "sda1", fs: "xfs", count: "sda1"},
		{rule: "a name with a slash", mounts: dataMount("104:0", "ext4", "/dev/x", "rw"), sys: tree{}.device("104:0", "pci0/block/cciss!c0d0", nil), file: on("104:0"),
			chain: "cciss/c0d0", fs: "ext4", count: "cciss/c0d0"},
		{rule: "a block device itself", mounts: rootMount, sys: disks(), file: node{dev: "0:6", device: "254:0"}, chain: "vda", fs: "none (a block device)", count: "vda"},

		// Device-mapper and md: what they lie on decides.
		{rule: "device-mapper on a partition", mounts: dataMount("252:0", "ext4", "/dev/mapper/v", "rw"), sys: disks().virtual("252:0", "dm-0", "pci0/ata1/host0/block/sda/sda1"),
			file: on("252:0"), chain: "dm-0 on sda1", fs: "ext4", count: "sda1"},
		{rule: "md on two disks", mounts: dataMount("9:0", "ext4", "/dev/md0", "rw"), sys: disks().virtual("9:0", "md0", "pci0/ata1/host0/block/sda", "pci0/ata2/host1/block/sdb"),
			file: on("9:0"), chain: "md0 on sda, sdb", fs: "ext4", count: "md0"},
		{rule: "a partition of md lies on what md lies on", mounts: dataMount("259:0", "ext4", "/dev/md0p1", "rw"),
			sys:  disks().virtual("9:0", "md0", "pci0/ata1/host0/block/sda").partition("259:0", "virtual/block/md0", "md0p1"),
			file: on("259:0"), chain: "md0p1 on sda", fs: "ext4", count: "sda"},
		{rule: "md on device-mapper", mounts: dataMount("9:0", "ext4", "/dev/md0", "rw"),
			sys: disks().virtual("252:0", "dm-0", "pci0/ata1/host0/block/sda").virtual("252:1", "dm-1", "pci0/ata2/host1/block/sdb").
				virtual("9:0", "md0", "virtual/block/dm-0", "virtual/block/dm-1"),
			file: on("9:0"), chain: "md0 on (dm-0 on sda), (dm-1 on sdb)", fs: "ext4", count: "md0"},
		{rule: "a mirror of a disk and a ram disk", mounts: dataMount("9:0", "ext4", "/dev/md0", "rw"),
			sys:  disks().virtual("1:0", "ram0").virtual("9:0", "md0", "virtual/block/ram0", "pci0/ata1/host0/block/sda"),
			file: on("9:0"), chain: "md0 on ram0, sda", fs: "ext4", count: "md0", memory: "ram0 is a ram disk"},
		{rule: "device-mapper on a loop device", mounts: rootMount + dataMount("252:0", "ext4", "/dev/mapper/v", "rw"),
			sys:  disks().loop("7:0", "loop0", "/srv/a.img", "0").virtual("252:0", "dm-0", "virtual/block/loop0"),
			file: on("252:0"), others: map[string]node{"/srv/a.img": on("254:0")}, chain: "dm-0 on loop0 on vda", fs: "ext4", count: "vda",
			memory: "loop0 is served from the page cache of /srv/a.img; have it read directly: losetup --direct-io=on /dev/loop0"},
		{rule: "device-mapper on nothing (zero)", mounts: dataMount("252:0", "ext4", "/dev/mapper/z", "rw"), sys: tree{}.virtual("252:0", "dm-0"), file: on("252:0"),
			chain: "dm-0", fs: "ext4", count: "dm-0", memory: "dm-0 lies on no other device"},
		{rule: "device-mapper, and sysfs does not say on what", mounts: dataMount("252:0", "ext4", "/dev/mapper/z", "rw"), sys: tree{}.device("252:0", "virtual/block/dm-0", nil),
			file: on("252:0"), chain: "dm-0", fs: "ext4", count: "dm-0"},
		{rule: "a slave that sysfs does not list", mounts: dataMount("252:0", "ext4", "/dev/mapper/z", "rw"), sys: tree{}.virtual("252:0", "dm-0", "gone/sdx"), file: on("252:0"),
			fs: "ext4", unseen: "under dm-0: sysfs lists no device"},
		{rule: "devices in a circle", mounts: dataMount("252:0", "ext4", "/dev/mapper/z", "rw"),
			sys:  tree{}.virtual("252:0", "dm-0", "virtual/block/dm-1").virtual("252:1", "dm-1", "virtual/block/dm-0"),
			file: on("252:0"), fs: "ext4", unseen: "in a circle"},

		// Loop devices: how the file is read, and where it lies.
		{rule: "loop without direct I/O, on a path with a blank and a quote", mounts: rootMount + dataMount("7:3", "xfs", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/srv/bob's disk.img", "0"), file: on("7:3"), others: map[string]node{"/srv/bob's disk.img": on("254:0")},
			chain: "loop3 on vda", fs: "xfs", count: "vda", memory: `loop3 is served from the page cache of '/srv/bob'\''s disk.img'`},
		{rule: "loop of a kernel that knows no direct I/O", mounts: rootMount + dataMount("7:3", "xfs", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/a.img", ""), file: on("7:3"), others: map[string]node{"/a.img": on("254:0")},
			chain: "loop3 on vda", fs: "xfs", count: "vda", memory: "page cache of /a.img"},
		{rule: "loop with direct I/O on a disk", mounts: rootMount + dataMount("7:3", "ext4", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/a.img", "1"), file: on("7:3"), others: map[string]node{"/a.img": on("254:0")},
			chain: "loop3 on vda", fs: "ext4", count: "vda"},
		{rule: "loop with direct I/O on a file that cannot be read directly", mounts: rootMount + dataMount("7:3", "ext4", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/a.img", "1"), file: on("7:3"), others: map[string]node{"/a.img": {dev: "254:0", regular: true, buffered: true}},
			chain: "loop3 on vda", fs: "ext4", count: "vda", memory: "loop3 is served from /a.img, of which direct reads go through the page cache"},
		{rule: "a partition of a loop device", mounts: rootMount + dataMount("259:5", "ext4", "/dev/loop3p1", "rw"),
			sys:  disks().loop("7:3", "loop3", "/a.img", "0").partition("259:5", "virtual/block/loop3", "loop3p1"),
			file: on("259:5"), others: map[string]node{"/a.img": on("254:0")},
			chain: "loop3p1 on vda", fs: "ext4", count: "vda", memory: "losetup --direct-io=on /dev/loop3"},
		{rule: "loop with direct I/O on tmpfs", mounts: rootMount + tmpMount + dataMount("7:3", "ext4", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/tmp/a.img", "1"), file: on("7:3"), others: map[string]node{"/tmp/a.img": on("0:30")},
			chain: "loop3 on tmpfs", fs: "ext4", count: "loop3", memory: "loop3 is served from /tmp/a.img, and /tmp/a.img lies on tmpfs"},
		{rule: "loop with direct I/O on loop without", mounts: rootMount + dataMount("7:1", "ext4", "/dev/loop1", "rw") + "41 27 7:0 / /inner rw - ext4 /dev/loop0 rw\n",
			sys:  disks().loop("7:1", "loop1", "/inner/b.img", "1").loop("7:0", "loop0", "/a.img", "0"),
			file: on("7:1"), others: map[string]node{"/inner/b.img": on("7:0"), "/a.img": on("254:0")},
			chain: "loop1 on loop0 on vda", fs: "ext4", count: "vda", memory: "loop1 is served from /inner/b.img, and loop0 is served from the page cache of /a.img"},
		{rule: "loop on a file that was deleted", mounts: rootMount + dataMount("7:3", "ext4", "/dev/loop3", "rw"),
			sys: disks().loop("7:3", "loop3", "/a.img (deleted)", "1"), file: on("7:3"),
			chain: "loop3", fs: "ext4", count: "loop3", memory: "loop3 is served from '/a.img (deleted)', which cannot be looked at"},
		{rule: "loop on a file of itself", mounts: dataMount("7:3", "ext4", "/dev/loop3", "rw"),
			sys: tree{}.loop("7:3", "loop3", "/data/a.img", "1"), file: on("7:3"), others: map[string]node{"/data/a.img": on("7:3")},
			chain: strings.Repeat("loop3 on ", 16) + "unknown", fs: "ext4", count: "loop3"},

		// Devices that are memory, and those that a server may answer for from memory.
		{rule: "brd", mounts: dataMount("1:0", "ext4", "/dev/ram0", "rw"), sys: tree{}.virtual("1:0", "ram0"), file: on("1:0"), chain: "ram0", fs: "ext4", count: "ram0", memory: "ram0 is a ram disk"},
		{rule: "zram", mounts: dataMount("253:1", "ext4", "/dev/zram1", "rw"), sys: tree{}.virtual("253:1", "zram1"), file: on("253:1"), chain: "zram1", fs: "ext4", count: "zram1", memory: "zram1 is a ram disk, compressed"},
		{rule: "null_blk", mounts: dataMount("252:0", "ext4", "/dev/nullb0", "rw"), sys: tree{}.virtual("252:0", "nullb0"), file: on("252:0"), chain: "nullb0", fs: "ext4", count: "nullb0", memory: "nullb0 is a null block device"},
		{rule: "a volume of ZFS", mounts: dataMount("230:0", "ext4", "/dev/zd0", "rw"), sys: tree{}.virtual("230:0", "zd0"), file: on("230:0"), chain: "zd0", fs: "ext4", count: "zd0", memory: "zd0 is a volume of ZFS"},
		{rule: "nbd", mounts: dataMount("43:0", "ext4", "/dev/nbd0", "rw"), sys: tree{}.virtual("43:0", "nbd0"), file: on("43:0"), chain: "nbd0", fs: "ext4", count: "nbd0", memory: "nbd0 is served by another process"},
		{rule: "a partition of nbd", mounts: dataMount("43:1", "ext4", "/dev/nbd0p1", "rw"), sys: tree{}.virtual("43:0", "nbd0").partition("43:1", "virtual/block/nbd0", "nbd0p1"), file: on("43:1"),
			chain: "nbd0p1", fs: "ext4", count: "nbd0p1", memory: "nbd0 is served by another process"},
		{rule: "ublk", mounts: dataMount("259:0", "ext4", "/dev/ublkb0", "rw"), sys: tree{}.virtual("259:0", "ublkb0"), file: on("259:0"), chain: "ublkb0", fs: "ext4", count: "ublkb0", memory: "ublkb0 is served by a process of this machine"},
		{rule: "scsi_debug", mounts: dataMount("8:32", "ext4", "/dev/sdc", "rw"), sys: tree{}.device("8:32", "pseudo_0/adapter0/host2/target2:0:0/2:0:0:0/block/sdc", nil), file: on("8:32"),
			chain: "sdc", fs: "ext4", count: "sdc", memory: "imitates in memory"},
		{rule: "a SCSI target of this kernel", mounts: dataMount("8:32", "ext4", "/dev/sdc", "rw"), sys: tree{}.device("8:32", "tcm_loop_0/tcm_loop_adapter_0/host2/block/sdc", nil), file: on("8:32"),
			chain: "sdc", fs: "ext4", count: "sdc", memory: "tcm_loop"},
		{rule: "iSCSI from this machine", mounts: dataMount("8:32", "ext4", "/dev/sdc", "rw"),
			sys:  tree{"class/iscsi_connection/connection3:0/address": "127.0.0.1\n"}.device("8:32", "platform/host2/session3/target2:0:0/2:0:0:0/block/sdc", nil),
			file: on("8:32"), chain: "sdc", fs: "ext4", count: "sdc", memory: "sdc is served by this machine itself"},
		{rule: "iSCSI from another one", mounts: dataMount("8:32", "ext4", "/dev/sdc", "rw"),
			sys:  tree{"class/iscsi_connection/connection3:0/address": "192.0.2.1\n"}.device("8:32", "platform/host2/session3/target2:0:0/2:0:0:0/block/sdc", nil),
			file: on("8:32"), chain: "sdc", fs: "ext4", count: "sdc"},
		{rule: "NVMe", mounts: dataMount("259:0", "ext4", "/dev/nvme0n1", "rw"),
			sys:  tree{"devices/pci0/nvme/nvme0/transport": "pcie\n", "devices/pci0/nvme/nvme0/address": "0000:01:00.0\n"}.device("259:0", "pci0/nvme/nvme0/nvme0n1", nil),
			file: on("259:0"), chain: "nvme0n1", fs: "ext4", count: "nvme0n1"},
		{rule: "NVMe from this kernel", mounts: dataMount("259:0", "ext4", "/dev/nvme0n1", "rw"),
			sys: tree{"devices/virtual/nvme-fabrics/ctl/nvme0/transport": "loop\n"}.device("259:0", "virtual/nvme-fabrics/ctl/nvme0/nvme0n1", nil), file: on("259:0"),
			chain: "nvme0n1", fs: "ext4", count: "nvme0n1", memory: "nvme0n1 is served by this machine itself"},
		{rule: "NVMe over TCP from this machine, by several controllers", mounts: dataMount("259:0", "ext4", "/dev/nvme0n1", "rw"),
			sys: tree{
				"devices/virtual/nvme-fabrics/ctl/nvme7/transport":    "tcp\n",
				"devices/virtual/nvme-fabrics/ctl/nvme7/address":      "traddr=::1,trsvcid=4420,src_addr=::1\n",
				"devices/virtual/nvme-subsystem/nvme-subsys0/nvme7":   "-> ../../nvme-fabrics/ctl/nvme7",
				"devices/virtual/nvme-subsystem/nvme-subsys0/subsysn": "nqn\n",
			}.device("259:0", "virtual/nvme-subsystem/nvme-subsys0/nvme0n1", nil), file: on("259:0"),
			chain: "nvme0n1", fs: "ext4", count: "nvme0n1", memory: "nvme0n1 is served by this machine itself"},
		{rule: "NVMe over TCP from another one", mounts: dataMount("259:0", "ext4", "/dev/nvme0n1", "rw"),
			sys: tree{
				"devices/virtual/nvme-fabrics/ctl/nvme0/transport": "tcp\n",
				"devices/virtual/nvme-fabrics/ctl/nvme0/address":   "traddr=192.0.2.7,trsvcid=4420\n",
			}.device("259:0", "virtual/nvme-fabrics/ctl/nvme0/nvme0n1", nil), file: on("259:0"), chain: "nvme0n1", fs: "ext4", count: "nvme0n1"},
		{rule: "persistent memory", mounts: dataMount("259:0", "ext4", "/dev/pmem0", "rw"), sys: tree{}.device("259:0", "LNXSYSTM:00/ACPI0012:00/ndbus0/region0/namespace0.0/block/pmem0", nil), file: on("259:0"),
			chain: "pmem0", fs: "ext4", count: "pmem0"},
		{rule: "persistent memory made of memory", mounts: dataMount("259:0", "ext4", "/dev/pmem0", "rw"), sys: tree{}.device("259:0", "platform/e820_pmem/ndbus0/region0/namespace0.0/block/pmem0", nil), file: on("259:0"),
			chain: "pmem0", fs: "ext4", count: "pmem0", memory: "pmem0 is a piece of this machine's memory"},

		// File systems without a device number of their own.
		{rule: "tmpfs", mounts: dataMount("0:30", "tmpfs", "tmpfs", "rw"), sys: disks(), file: on("0:30"), fs: "tmpfs", memory: "'/data/my file' lies on tmpfs, whose pages are the file", unseen: "tmpfs has no block device"},
		{rule: "ZFS", mounts: dataMount("0:31", "zfs", "pool/data", "rw"), sys: disks(), file: on("0:31"), fs: "zfs", memory: "lies on ZFS", unseen: "zfs has no block device"},
		{rule: "NFS", mounts: dataMount("0:32", "nfs4", "server:/x", "rw,addr=192.0.2.5"), sys: disks(), file: on("0:32"), fs: "nfs4", unseen: "nfs4 has no block device"},
		{rule: "NFS from this machine", mounts: dataMount("0:32", "nfs4", "localhost:/x", "rw,vers=4.2,addr=127.0.0.1"), sys: disks(), file: on("0:32"), fs: "nfs4", memory: "this machine itself serves", unseen: "nfs4 has no block device"},
		{rule: "bcachefs on two devices", mounts: dataMount("0:33", "bcachefs", "/dev/sda1:/dev/sdb", "rw"), sys: disks(), file: on("0:33"),
			others: map[string]node{"/dev/sda1": {device: "8:1"}, "/dev/sdb": {device: "8:16"}}, chain: "sda1, sdb", fs: "bcachefs"},
		{rule: "erofs on an image", mounts: rootMount + dataMount("0:34", "erofs", "/srv/a\\040b.img", "ro"), sys: disks(), file: on("0:34"),
			others: map[string]node{"/srv/a b.img": on("254:0")}, chain: "vda", fs: "erofs", count: "vda", memory: "/data is served from the page cache of '/srv/a b.img'"},
		{rule: "erofs on an image, read directly", mounts: rootMount + dataMount("0:34", "erofs", "/a.img", "ro,directio"), sys: disks(), file: on("0:34"),
			others: map[string]node{"/a.img": on("254:0")}, chain: "vda", fs: "erofs", count: "vda"},

		// btrfs lists its devices itself.
		{rule: "btrfs, in a subvolume, whose number no mount has", mounts: dataMount("0:40", "btrfs", "/dev/mapper/v", "rw,subvol=/s"),
			sys:    disks().virtual("252:0", "dm-0", "pci0/ata1/host0/block/sda").with(tree{"fs/btrfs/u-1/devices/dm-0": "-> ../../../../devices/virtual/block/dm-0", "fs/btrfs/u-1/bdi/read_ahead_kb": "4096\n"}),
			file:   node{dev: "0:41", mount: 40, regular: true},
			others: map[string]node{"/dev/mapper/v": {device: "252:0"}}, chain: "dm-0 on sda", fs: "btrfs", count: "sda"},
		{rule: "btrfs on a disk and a loop device", mounts: rootMount + dataMount("0:40", "btrfs", "/dev/sda", "rw"),
			sys: disks().loop("7:0", "loop0", "/a.img", "0").with(tree{"fs/btrfs/u-1/devices/loop0": "-> ../../../../devices/virtual/block/loop0", "fs/btrfs/u-1/devices/sda": "-> ../../../../devices/pci0/ata1/host0/block/sda",
				"fs/btrfs/u-2/devices/sdb": "-> ../../../../devices/pci0/ata2/host1/block/sdb", "fs/btrfs/features/acl": "0\n"}),
			file: on("0:40"), others: map[string]node{"/a.img": on("254:0")}, // and no /dev/sda here, as in a container
			chain: "loop0 on vda, sda", fs: "btrfs", memory: "page cache of /a.img"},
		{rule: "btrfs that sysfs does not list", mounts: dataMount("0:40", "btrfs", "/dev/sda", "rw"), sys: disks(), file: on("0:40"), fs: "btrfs", unseen: "btrfs lists no file system on /dev/sda"},

		// Through overlayfs, the layer that has the file decides.
		{rule: "the upper layer covers the lower", mounts: rootMount + tmpMount + dataMount("0:50", "overlay", "overlay", "rw,lowerdir=/tmp/l,upperdir=/up,workdir=/w"), sys: disks(), file: on("0:50"),
			others: map[string]node{"/up/my file": on("254:0"), "/tmp/l/my file": on("0:30")}, chain: "vda", fs: "overlay on ext4", count: "vda"},
		{rule: "a file of the second lower layer, whose name has colon, comma and blank", mounts: rootMount + tmpMount + dataMount("0:50", "overlay", "overlay", `rw,lowerdir=/no:/tmp/a\134:b\054c\040d,upperdir=/up`),
			sys: disks(), file: on("0:50"), others: map[string]node{"/tmp/a:b,c d/my file": on("0:30")}, fs: "overlay on tmpfs", memory: "lies on tmpfs", unseen: "tmpfs has no block device"},
		{rule: "an upper layer whose name has comma and colon, as mount(2) was given it, or not", mounts: rootMount + dataMount("0:50", "overlay", "overlay", `rw,lowerdir=/l,upperdir=/a\134\054b\134:c:d`), sys: disks(), file: on("0:50"),
			others: map[string]node{"/a,b:c:d/my file": on("254:0")}, chain: "vda", fs: "overlay on ext4", count: "vda"},
		{rule: "layers that are told one by one", mounts: rootMount + dataMount("0:50", "overlay", "overlay", "ro,lowerdir+=/a,lowerdir+=/b:c"), sys: disks(), file: on("0:50"),
			others: map[string]node{"/b:c/my file": on("254:0")}, chain: "vda", fs: "overlay on ext4", count: "vda"},
		{rule: "of a copy of the metadata alone, the data is in a lower layer", mounts: rootMount + tmpMount + dataMount("0:50", "overlay", "overlay", "rw,lowerdir=/tmp/l,upperdir=/up,metacopy=on"), sys: disks(), file: on("0:50"),
			others: map[string]node{"/up/my file": {dev: "254:0", regular: true, size: 4096, mtime: 1}, "/tmp/l/my file": on("0:30")}, fs: "overlay on tmpfs", memory: "lies on tmpfs", unseen: "tmpfs has no block device"},
		{rule: "an overlay of overlays on a loop device", mounts: rootMount + dataMount("0:50", "overlay", "overlay", "ro,lowerdir=/o") + "51 27 0:51 / /o rw - overlay overlay ro,lowerdir=/m\n" + "52 27 7:0 / /m rw - ext4 /dev/loop0 rw\n",
			sys: disks().loop("7:0", "loop0", "/a.img", "0"), file: on("0:50"), others: map[string]node{"/o/my file": on("0:51"), "/m/my file": on("7:0"), "/a.img": on("254:0")},
			chain: "loop0 on vda", fs: "overlay on overlay on ext4", count: "vda", memory: "page cache of /a.img"},
		{rule: "a directory of an overlay, mounted elsewhere", mounts: rootMount + "40 27 0:50 /sub /data rw - overlay overlay rw,lowerdir=/l,upperdir=/up\n", sys: disks(), file: on("0:50"),
			others: map[string]node{"/up/sub/my file": on("254:0")}, chain: "vda", fs: "overlay on ext4", count: "vda"},
		{rule: "an overlay whose layers are not here, as in a container", mounts: dataMount("0:50", "overlay", "overlay", "rw,lowerdir=/var/l,upperdir=/var/up"), sys: disks(), file: on("0:50"),
			fs: "overlay", unseen: "the layers of the overlay cannot be seen from here"},
		{rule: "a file of that name that is another one", mounts: rootMount + dataMount("0:50", "overlay", "overlay", "rw,lowerdir=/l,upperdir=/up"), sys: disks(), file: on("0:50"),
			others: map[string]node{"/up/my file": {dev: "254:0", regular: true, size: 1}}, fs: "overlay", unseen: "the layers of the overlay cannot be seen from here"},
		{rule: "layers relative to a directory that nobody tells", mounts: rootMount + dataMount("0:50", "overlay", "overlay", "rw,lowerdir=l,upperdir=up"), sys: disks(), file: on("0:50"),
			fs: "overlay", unseen: "the layers of the overlay cannot be seen from here"},

		// Nothing to be seen is no refusal.
		{rule: "no mounts, but the device", sys: disks(), file: on("254:0"), chain: "vda", count: "vda"},
		{rule: "no mounts and no sysfs", file: on("254:0"), unseen: "sysfs lists no device 254:0"},
		{rule: "mounts of another form", mounts: "\n31 22\n254:0 - ext4\n - - -\n", sys: disks(), file: on("254:0"), chain: "vda", count: "vda"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := &walk{sys: testfile.Tree(t, c.sys), mounts: parseMounts(c.mounts), look: func(path string) (node, error) {
				if n, ok := c.others[path]; ok {
					return n, nil
				}
				return node{}, errors.New("no such file")
			}}
			s := w.file(data, c.file)
			got := []string{s.Chain(), s.FileSystem, s.Counted()}
			if diff := cmp.Diff([]string{c.chain, c.fs, c.count}, got); diff != "" {
				t.Errorf("chain, file system, counted device (-want +got):\n%s", diff)
			}
			if c.memory == "" && s.Memory != "" || !strings.Contains(s.Memory, c.memory) {
				t.Errorf("memory because %q, want %q", s.Memory, c.memory)
			}
			if c.unseen == "" && s.Unseen != "" || !strings.Contains(s.Unseen, c.unseen) {
				t.Errorf("unseen because %q, want %q", s.Unseen, c.unseen)
			}
		})
	}
}

// Of several mounts of a device, the one by which the file was opened counts, else the innermost.
func TestFindMount(t *testing.T) {
	all := parseMounts("1 0 8:1 / / rw - a x rw\n2 1 8:1 /b /b rw - b x rw\n3 1 8:1 /b /b/c rw - c x rw\n4 1 0:9 / /sub rw - d x rw\n")
	for _, c := range []struct {
		n    node
		path string
		want string
	}{
		{node{dev: "8:1"}, "/f", "a"},
		{node{dev: "8:1"}, "/b/f", "b"},
		{node{dev: "8:1"}, "/b/c/f", "c"},
		{node{dev: "8:1"}, "/bc/f", "a"},
		{node{dev: "0:77", mount: 4}, "/sub/f", "d"},
		{node{dev: "0:77"}, "/sub/f", ""},
	} {
		if m, ok := findMount(all, c.n, c.path); m.kind != c.want || ok != (c.want != "") {
			t.Errorf("%+v at %s is on %q, want %q", c.n, c.path, m.kind, c.want)
		}
	}
}
