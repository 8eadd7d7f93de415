package testfile

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Loop attaches a sparse image of size bytes to a loop device, with direct I/O or without, for the length of the test. It
// skips the test where that is not allowed.
func Loop(t testing.TB, image string, size int64, direct bool) (device string) {
	t.Helper()
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Truncate(size), f.Close()); err != nil {
		t.Fatal(err)
	}
	out := tool(t, "losetup", "--find", "--show", "--direct-io="+map[bool]string{true: "on", false: "off"}[direct], image)
	device = strings.TrimSpace(out)
	t.Cleanup(func() {
		if out, err := exec.Command("losetup", "--detach", device).CombinedOutput(); err != nil {
			t.Errorf("losetup --detach %s: %v: %s", device, err, out)
		}
	})
	return device
}

// Zram adds a zram device of size bytes for the length of the test.
func Zram(t testing.TB, size int64) (device string) {
	t.Helper()
	const control = "/sys/class/zram-control"
	id, err := os.ReadFile(filepath.Join(control, "hot_add"))
	if err != nil {
		t.Skipf("no zram device can be added (needs root and zram): %v", err)
	}
	n := strings.TrimSpace(string(id))
	t.Cleanup(func() {
		if err := os.WriteFile(filepath.Join(control, "hot_remove"), []byte(n), 0); err != nil {
			t.Errorf("removing zram%s: %v", n, err)
		}
	})
	if err := os.WriteFile("/sys/block/zram"+n+"/disksize", []byte(strconv.FormatInt(size, 10)), 0); err != nil {
		t.Fatal(err)
	}
	return "/dev/zram" + n
}

// Format makes a file system on a device, and mounts it on a new directory for the length of the test. It skips the test
// where there is no mkfs for it, or mounting is not allowed.
func Format(t testing.TB, device, kind string) (dir string) {
	t.Helper()
	tool(t, "mkfs."+kind, device)
	return Mount(t, device, kind, "")
}

// Mount mounts a source on a new directory for the length of the test. It skips the test where that is not allowed.
func Mount(t testing.TB, source, kind, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := unix.Mount(source, dir, kind, 0, options); err != nil {
		t.Skipf("mounting %s as %s (needs root, and a kernel with %s): %v", source, kind, kind, err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Overlay mounts a new overlay whose layers lie in base.
func Overlay(t testing.TB, base string) (dir string) {
	t.Helper()
	for _, name := range []string{"lower", "upper", "work"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	layer := func(name string) string { // names of tests may have commas and colons
		return strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace(filepath.Join(base, name))
	}
	return Mount(t, "overlay", "overlay", "lowerdir="+layer("lower")+",upperdir="+layer("upper")+",workdir="+layer("work"))
}

// tool runs a command of the system, and skips the test where it is missing or refuses.
func tool(t testing.TB, name string, args ...string) string {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("%s (needs root, and the program): %v: %s", strings.Join(cmd.Args, " "), err, &stderr)
	}
	return string(out)
}
