package hostinfo

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/testfile"
)

// A tree is what is in a proc or sys file system, path by path; text that begins with "-> " is a link.
type tree map[string]string

func (files tree) make(t *testing.T) (root string) {
	t.Helper()
	return testfile.Tree(t, files)
}

// A file of which Of is asked: any one. The trees are built for the number of the device that it is really on.
func someFile(t *testing.T) (f *os.File, dev string) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	return f, fmt.Sprintf("%d:%d", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
}

// recordedProc is of a machine of 24 GiB, with the file system of dev mounted at /data.
func recordedProc(dev, kind string) tree {
	return tree{
		"sys/kernel/osrelease": "6.18.44-generic\n",
		"meminfo":              "MemTotal:       24683528 kB\nMemFree:        22937604 kB\nMemAvailable:   23883776 kB\n",
		"self/mountinfo": "22 1 8:900 / / rw,relatime shared:1 - xfs /dev/other rw\n" +
			"25 22 0:901 / /proc rw,nosuid shared:12 - proc proc rw\n" +
			fmt.Sprintf("31 22 %s / /data\\040disk rw,relatime shared:3 master:2 - %s /dev/vda rw,discard\n", dev, kind) +
			"40 22 0:902 / /tmp rw - tmpfs tmpfs rw\n",
	}
}

// disk is a disk on ATA with one partition, as sysfs tells of it.
func disk(name, dev, partition string) tree {
	dir := "devices/ata1/block/" + name
	return tree{
		"dev/block/" + dev:               "-> ../../" + dir,
		"dev/block/" + partition:         "-> ../../" + dir + "/" + name + "2",
		dir + "/queue/rotational":        "1\n",
		dir + "/queue/scheduler":         "none [mq-deadline]\n",
		dir + "/" + name + "2/partition": "2\n",
		dir + "/" + name + "2/dev":       partition + "\n",
	}
}

func with(files, more tree) tree {
	maps.Copy(files, more)
	return files
}

// facts are those that a machine decides, in their order; all are named, always.
func facts(kernel, memory, filesystem, device, rotational, scheduler, readAhead, hugePages string) []Fact {
	return []Fact{
		{"kernel", kernel},
		{"go", runtime.Version()},
		{"cpus", strconv.Itoa(runtime.NumCPU())},
		{"memory", memory},
		{"filesystem", filesystem},
		{"device", device},
		{"rotational", rotational},
		{"scheduler", scheduler},
		{"read-ahead-kb", readAhead},
		{"huge-pages", hugePages},
	}
}

func TestOf(t *testing.T) {
	f, dev := someFile(t)
	unlisted := fmt.Sprintf("unknown (sysfs lists no device %s)", dev)
	for _, c := range []struct {
		rule      string
		proc, sys tree
		want      Info
	}{
		{"a whole disk has a queue of its own",
			recordedProc(dev, "ext4"),
			tree{
				"dev/block/" + dev:                                   "-> ../../devices/pci0/virtio3/block/vda",
				"devices/pci0/virtio3/block/vda/dev":                 dev + "\n",
				"devices/pci0/virtio3/block/vda/size":                "536870912\n",
				"devices/pci0/virtio3/block/queue/trap":              "not a device's queue\n",
				"devices/pci0/virtio3/block/vda/queue/rotational":    "0\n",
				"devices/pci0/virtio3/block/vda/queue/scheduler":     "[none] mq-deadline \n",
				"devices/pci0/virtio3/block/vda/queue/read_ahead_kb": "8192\n",
				"kernel/mm/transparent_hugepage/enabled":             "always [madvise] never\n",
			},
			Info{Device: "vda", Facts: facts("6.18.44-generic", "24105MiB", "ext4", "vda", "0", "none", "8192", "madvise")}},
		{"a partition has its disk's queue, and its own name",
			recordedProc(dev, "xfs"),
			tree{
				"dev/block/" + dev:                           "-> ../../devices/ata1/block/sda/sda2",
				"devices/ata1/block/sda/sda2/partition":      "2\n",
				"devices/ata1/block/sda/queue/rotational":    "1\n",
				"devices/ata1/block/sda/queue/scheduler":     "none [mq-deadline] kyber bfq\n",
				"devices/ata1/block/sda/queue/read_ahead_kb": "128\n",
			},
			Info{Device: "sda2", Facts: facts("6.18.44-generic", "24105MiB", "xfs", "sda2", "1", "mq-deadline", "128", unknown)}},
		{"the read-ahead of the file system itself counts more than its device's",
			recordedProc(dev, "ext4"),
			tree{
				"dev/block/" + dev:                          "-> ../../devices/block/nvme0n1",
				"devices/block/nvme0n1/queue/rotational":    "0\n",
				"devices/block/nvme0n1/queue/scheduler":     "none\n",
				"devices/block/nvme0n1/queue/read_ahead_kb": "128\n",
				"class/bdi/" + dev + "/read_ahead_kb":       "4096\n",
			},
			Info{Device: "nvme0n1", Facts: facts("6.18.44-generic", "24105MiB", "ext4", "nvme0n1", "0", "none", "4096", unknown)}},
		{"a file system without a block device",
			recordedProc(dev, "overlay"),
			tree{"dev/block/8:900": "-> ../../devices/block/other"},
			Info{Facts: facts("6.18.44-generic", "24105MiB", "overlay", "unknown (the layers of the overlay cannot be seen from here)", unknown, unknown, unknown, unknown)}},
		{"a file system without a block device that has a read-ahead",
			recordedProc(dev, "nfs4"),
			tree{"class/bdi/" + dev + "/read_ahead_kb": "15360\n"},
			Info{Facts: facts("6.18.44-generic", "24105MiB", "nfs4", unlisted, unknown, unknown, "15360", unknown)}},
		{"what is below counts: the device at the bottom, its queue; the read-ahead is that of what the file system lies on",
			recordedProc(dev, "ext4"),
			with(tree{
				"dev/block/" + dev:                            "-> ../../devices/virtual/block/dm-0",
				"devices/virtual/block/dm-0/queue/scheduler":  "none\n",
				"devices/virtual/block/dm-0/slaves/sda2":      "-> ../../../../ata1/block/sda/sda2",
				"class/bdi/" + dev + "/read_ahead_kb":         "256\n",
				"devices/virtual/block/dm-0/queue/rotational": "0\n",
			}, disk("sda", "8:0", "8:2")),
			Info{Device: "sda2", Facts: facts("6.18.44-generic", "24105MiB", "ext4", "dm-0 on sda2", "1", "mq-deadline", "256", unknown)}},
		{"a mount that this process cannot see",
			recordedProc("8:999", "ext4"), tree{},
			Info{Facts: facts("6.18.44-generic", "24105MiB", unknown, unlisted, unknown, unknown, unknown, unknown)}},
		{"nothing is told at all",
			tree{}, tree{},
			Info{Facts: facts(unknown, unknown, unknown, unlisted, unknown, unknown, unknown, unknown)}},
		{"what is told is empty or of another form",
			tree{"sys/kernel/osrelease": "\n", "meminfo": "MemTotal: much\n", "self/mountinfo": "\n31 22\n" + dev + " - ext4\n"},
			tree{
				"dev/block/" + dev:                   "-> ../../devices/block/vda",
				"devices/block/vda/queue/rotational": "",
				"devices/block/vda/queue/scheduler":  "\n",
			},
			Info{Device: "vda", Facts: facts(unknown, unknown, unknown, "vda", unknown, unknown, unknown, unknown)}},
	} {
		t.Run(c.rule, func(t *testing.T) {
			if c.want.Facts[3].Value != unknown {
				c.want.Memory = 24683528 << 10 // what recordedProc tells
			}
			if diff := cmp.Diff(c.want, Of(f, c.proc.make(t), c.sys.make(t))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Without a device nothing is looked for, in particular not in the working directory.
func TestOfLooksNowhereElse(t *testing.T) {
	f, dev := someFile(t)
	t.Chdir(tree{"rotational": "1\n", "scheduler": "[mine]\n", "read_ahead_kb": "7\n"}.make(t))
	want := facts("6.18.44-generic", "24105MiB", "ext4", fmt.Sprintf("unknown (sysfs lists no device %s)", dev), unknown, unknown, unknown, unknown)
	if diff := cmp.Diff(want, Of(f, recordedProc(dev, "ext4").make(t), t.TempDir()).Facts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestChosen(t *testing.T) {
	for list, want := range map[string]string{
		"[none] mq-deadline":           "none",
		"none [mq-deadline] kyber bfq": "mq-deadline",
		"mq-deadline kyber [bfq]":      "bfq",
		"none":                         "none",
		unknown:                        unknown,
	} {
		if got := chosen(list); got != want {
			t.Errorf("of %q, %q is chosen, want %q", list, got, want)
		}
	}
}

// On this machine, as it is: what is told is told twice alike, and the kernel is known.
func TestOfThisMachine(t *testing.T) {
	f, _ := someFile(t)
	info := Of(f, "/proc", "/sys")
	if diff := cmp.Diff(info, Of(f, "/proc", "/sys")); diff != "" {
		t.Errorf("asked twice (-first +second):\n%s", diff)
	}
	for _, fact := range info.Facts {
		if (fact.Key == "kernel" || fact.Key == "memory") && fact.Value == unknown {
			t.Errorf("%s is unknown", fact.Key)
		}
	}
	t.Logf("%+v", info)
}
