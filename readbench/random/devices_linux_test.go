package random_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/readbench/suite/internal/benchtest"
	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/testfile"
)

const (
	imageSize = 320 << 20 // mkfs.xfs wants 300 MiB
	dataSize  = 160 << 20 // pressure110 wants 75 MiB, up to 135 with -race
)

// On devices whose store may be this machine's memory, rows that promise a device are skipped with cause and remedy, and hot
// rows through the page cache run. Where the stack ends in a disk, all run. The device at the bottom is named.
func TestStacksOfDevices(t *testing.T) {
	loop := func(kind string, direct bool) func(*testing.T, string) string {
		return func(t *testing.T, disk string) string {
			return testfile.Format(t, testfile.Loop(t, filepath.Join(disk, "my image"), imageSize, direct), kind)
		}
	}
	const buffered = `loop\d+ is served from the page cache of '/.*/my image'; have it read directly: losetup --direct-io=on /dev/loop\d+$`
	for _, tc := range []struct {
		name   string
		make   func(t *testing.T, disk string) (dir string) // disk is a directory on a disk
		device string                                       // regular expression
		fs     string
		memory string // regular expression for the end of the skip; "" where all rows run
	}{
		{"ext4 on loop", loop("ext4", false), `loop\d+ on \w+`, "ext4", buffered},
		{"ext4 on loop, direct", loop("ext4", true), `loop\d+ on \w+`, "ext4", ""},
		{"xfs on loop", loop("xfs", false), `loop\d+ on \w+`, "xfs", buffered},
		{"xfs on loop, direct", loop("xfs", true), `loop\d+ on \w+`, "xfs", ""},
		{"btrfs on loop", loop("btrfs", false), `loop\d+ on \w+`, "btrfs", buffered},
		{"btrfs on loop, direct", loop("btrfs", true), `loop\d+ on \w+`, "btrfs", ""},
		{"overlay on ext4 on loop", func(t *testing.T, disk string) string { return testfile.Overlay(t, loop("ext4", false)(t, disk)) },
			`loop\d+ on \w+`, "overlay on ext4", buffered},
		{"overlay on ext4 on loop, direct", func(t *testing.T, disk string) string { return testfile.Overlay(t, loop("ext4", true)(t, disk)) },
			`loop\d+ on \w+`, "overlay on ext4", ""},
		{"overlay on the disk", func(t *testing.T, disk string) string { return testfile.Overlay(t, disk) }, `\w+`, `overlay on \w+`, ""},
		{"ext4 on loop on tmpfs, direct", func(t *testing.T, _ string) string {
			return loop("ext4", true)(t, testfile.Mount(t, "tmpfs", "tmpfs", ""))
		}, `loop\d+ on tmpfs`, "ext4", `loop\d+ is served from '/.*/my image', and '/.*/my image' lies on tmpfs, whose pages are the file; use a file system on a disk$`},
		{"ext4 on loop on ext4 on loop, direct on buffered", func(t *testing.T, disk string) string {
			return testfile.Format(t, testfile.Loop(t, filepath.Join(loop("ext4", false)(t, disk), "inner"), imageSize*3/4, true), "ext4")
		}, `loop\d+ on loop\d+ on \w+`, "ext4", `loop\d+ is served from /.*/inner, and ` + buffered},
		{"ext4 on zram", func(t *testing.T, _ string) string { return testfile.Format(t, testfile.Zram(t, imageSize), "ext4") },
			`zram\d+`, "ext4", `zram\d+ is a ram disk, compressed; use a file on a disk$`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			u := benchtest.NewUser(t)
			disk := t.TempDir()
			file := filepath.Join(tc.make(t, disk), "data.bin")
			if _, err := datafile.Create(t.Context(), datafile.Spec{Path: file, Size: dataSize, Seed: 1}); err != nil {
				t.Fatal(err)
			}
			forget(t, filepath.Join(disk, "my image"))
			checkRows(t, u, file, tc.device, tc.fs, tc.memory)
			if share := resident(t, filepath.Join(disk, "my image")); strings.HasSuffix(tc.name, "on loop, direct") && share > 0.01 {
				t.Errorf("%.0f %% of the image are in the page cache: the device below did not deliver what was read", 100*share)
			}
		})
	}
}

// A device may be named itself.
func TestDeviceThatIsMemory(t *testing.T) {
	u := benchtest.NewUser(t)
	device := testfile.Zram(t, dataSize)
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(make([]byte, dataSize))
	if err := errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	checkRows(t, u, device, `zram\d+`, `none \(a block device\)`, `zram\d+ is a ram disk, compressed; use a file on a disk$`)
}

// checkRows runs rows of all cases on a file. memory is a regular expression for why a device is none, "" if it is one.
func checkRows(t *testing.T, u benchtest.User, file, device, fs, memory string) {
	t.Helper()
	stdout, stderr, exit := u.Benchmark(t, []string{"FILE=" + file, "THREADS=1", "CASES=hot,cold,mixed10,pressure110", "METRICS=all"},
		"-test.bench=^Benchmark(Null|Pread|MmapRandom|PreadDirect|UringDirect)$", "-test.benchtime=3x", "-test.cpu=1")
	if exit != 0 {
		t.Fatalf("exit %d\n%s%s", exit, stdout, stderr)
	}
	results, _ := benchtest.Parse(t, stdout)
	rows := benchtest.Rows(results)
	for key, want := range map[string]string{"device": device, "filesystem": fs} {
		if got := results[0].GetConfig(key); !regexp.MustCompile("^" + want + "$").MatchString(got) {
			t.Errorf("%s: %s, want %s", key, got, want)
		}
	}
	if strings.Contains(results[0].GetConfig("device"), "unknown") {
		t.Errorf("device: %s", results[0].GetConfig("device"))
	}
	if results[0].GetConfig("read-ahead-kb") == "unknown" || results[0].GetConfig("rotational") == "unknown" && !strings.HasSuffix(results[0].GetConfig("device"), "tmpfs") {
		t.Errorf("read-ahead-kb: %s, rotational: %s", results[0].GetConfig("read-ahead-kb"), results[0].GetConfig("rotational"))
	}
	// The first row that a cause takes tells all of it.
	because := file + " may be read from this machine's memory and not from a device: "
	if memory != "" && !regexp.MustCompile(`(?m): `+regexp.QuoteMeta(because)+memory).MatchString(stderr) {
		t.Errorf("nobody says %s%s:\n%s", because, memory, stderr)
	}
	causes := benchtest.Skipped(stderr)
	for _, strategy := range []string{"Null", "Pread", "MmapRandom", "PreadDirect", "UringDirect"} {
		for _, pageCase := range []string{"hot", "cold", "mixed10", "pressure110"} {
			name := fmt.Sprintf("%s/case=%s/read=16KiB/threads=1", strategy, pageCase)
			if strategy == "UringDirect" {
				name = strings.Replace(name, "/threads", "/engine=ring/threads", 1)
			}
			cause, skipped := causes[name]
			served := strategy == "Null" || pageCase == "hot" && !strings.HasSuffix(strategy, "Direct")
			switch ran := rows[name] != nil; {
			case ran == skipped:
				t.Errorf("%s: ran %t, skipped %t\n%s", name, ran, skipped, stderr)
			case served && !ran:
				t.Errorf("%s is skipped: %s", name, cause)
			case served:
			case memory != "" && ran:
				t.Errorf("%s ran: %v bytes an op", name, benchtest.Value(t, rows[name], "dev-B/op"))
			case memory != "" && !strings.Contains(cause, because):
				t.Errorf("%s is skipped, because\n%s\nwant\n%s", name, cause, because)
			case memory == "" && skipped && !(strategy == "UringDirect" && strings.Contains(cause, "io_uring")) && !(pageCase == "pressure110" && strings.Contains(cause, "memory-limited")):
				t.Errorf("%s is skipped: %s", name, cause)
			}
		}
	}
}

// forget evicts an image, if there is one: what making the file left of it.
func forget(t *testing.T, image string) {
	t.Helper()
	f, err := os.Open(image)
	if err != nil {
		return
	}
	defer f.Close()
	if err := errors.Join(f.Sync(), unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
		t.Fatal(err)
	}
}

// resident is the share of an image that is in the page cache, 0 if there is no image.
func resident(t *testing.T, image string) float64 {
	t.Helper()
	f, err := os.Open(image)
	if err != nil {
		return 0
	}
	defer f.Close()
	r, err := pagecache.Resident(f, 0, imageSize)
	if err != nil {
		t.Fatal(err)
	}
	return r.Share()
}
