package datafile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func init() { roles["small-disk"] = smallDiskRole }

// A hole would be read without the device.
func TestCreateAllocatesAllBlocks(t *testing.T) {
	s := testSpec(testPath(t))
	requireMade(t, s, true)
	var st unix.Stat_t
	if err := unix.Stat(s.Path, &st); err != nil {
		t.Fatal(err)
	}
	if got := st.Blocks * 512; got < s.Size {
		t.Errorf("%d of %d bytes are allocated", got, s.Size)
	}
}

// The blocks are there before anything is written, so that a full disk is noticed at once.
func TestCreateAllocatesFirst(t *testing.T) {
	f, err := os.Create(testPath(t))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, BlockSize); errors.Is(err, unix.EOPNOTSUPP) {
		t.Skip("the file system of the temporary directory has no fallocate")
	}
	if err := allocate(f, testSize); err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	if st.Size != testSize || st.Blocks*512 < testSize {
		t.Errorf("%d bytes, %d allocated, want %d", st.Size, st.Blocks*512, testSize)
	}
}

// A directory that is not the caller's to write: the error says so and names the path.
func TestCreateInAnUnwritableDirectory(t *testing.T) {
	s := testSpec(testPath(t))
	dir := filepath.Dir(s.Path)
	if err := errors.Join(os.Chmod(dir, 0o555), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if os.Geteuid() == 0 { // root may write it nevertheless: look at the file system as nobody, on this thread alone
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer unix.Setfsuid(0)
	}
	made, err := Create(t.Context(), s)
	if made || !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), s.Path) {
		t.Errorf("made %v, error %v", made, err)
	}
}

const (
	smallDisk  = 8 << 20 // of the file system that smallDiskRole mounts
	mostOfDisk = smallDisk - 1<<20
)

// What only a full disk shows is tried on a small one, which another process mounts for itself alone.
func TestCreateOnASmallDisk(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), roleEnv+"=small-disk", pathEnv+"="+testPath(t), "GORACE=atexit_sleep_ms=0")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		t.Skipf("no mount namespace of its own for a process (user namespaces switched off?): %v", err)
	case strings.Contains(string(out), errMount.Error()):
		t.Skipf("%s", out)
	case err != nil:
		t.Errorf("%s", out)
	}
}

var errMount = errors.New("cannot mount a tmpfs, even in a namespace of its own")

func smallDiskRole(path string) error {
	dir := filepath.Dir(path)
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("%w: %w", errMount, err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", smallDisk)); err != nil {
		return fmt.Errorf("%w: %w", errMount, err)
	}
	// More than there is: the error tells both sizes and the remedies, and nothing is left.
	tooMuch := Spec{Path: path, Size: smallDisk + BlockSize, Seed: 1}
	_, err := Create(context.Background(), tooMuch)
	for _, part := range []string{path, fmt.Sprint(tooMuch.Size), "READBENCH_FILE", "READBENCH_SIZE"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			return fmt.Errorf("a file larger than the disk: %v, which does not name %s", err, part)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		return fmt.Errorf("a file larger than the disk left %v, %v", left, err)
	}
	// The blocks of a part that somebody left are free for the file that is made of it.
	if err := os.WriteFile(path+".part", filled(2, 0, mostOfDisk), 0o644); err != nil {
		return err
	}
	if made, err := Create(context.Background(), Spec{Path: path, Size: mostOfDisk, Seed: 1}); !made || err != nil {
		return fmt.Errorf("starting over in a part that takes most of the disk: made %v, error %v", made, err)
	}
	return nil
}
