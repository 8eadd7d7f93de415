package filelock

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// What /proc says, recorded: other kinds of locks, other files, and file systems whose device there is another one.
func TestHoldersRecorded(t *testing.T) {
	_, f := readOnly(t)
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		t.Fatal(err)
	}
	own := fmt.Sprintf("%02x:%02x:%d", unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	other := fmt.Sprintf("ff:ee:%d", st.Ino)
	for name, tc := range map[string]struct {
		locks string
		want  []Process
	}{
		"none":            {"", nil},
		"one":             {"1: POSIX  ADVISORY  WRITE 10 " + own + " 0 EOF\n2: FLOCK  ADVISORY  WRITE 11 " + own + " 0 EOF\n", []Process{{11, "tool -x a b"}}},
		"two, one unseen": {"1: FLOCK  ADVISORY  READ 11 " + own + " 0 EOF\n2: FLOCK  ADVISORY  READ 12 " + own + " 0 EOF\n", []Process{{11, "tool -x a b"}, {12, ""}}},
		"another file":    {"1: FLOCK  ADVISORY  WRITE 11 " + own + "1 0 EOF\n", nil},
		"another device":  {"1: FLOCK  ADVISORY  WRITE 11 " + other + " 0 EOF\n", []Process{{11, "tool -x a b"}}},
		"both":            {"1: FLOCK  ADVISORY  WRITE 12 " + other + " 0 EOF\n2: FLOCK  ADVISORY  WRITE 11 " + own + " 0 EOF\n", []Process{{11, "tool -x a b"}}},
		"nonsense":        {"1:\n\n2: FLOCK x\n3: FLOCK  ADVISORY  WRITE x " + own + " 0 EOF\n4: FLOCK A W 11 - 0\n", nil},
	} {
		proc := t.TempDir()
		err := errors.Join(os.Mkdir(filepath.Join(proc, "11"), 0o700),
			os.WriteFile(filepath.Join(proc, "11/cmdline"), []byte("tool\x00-x\x00a b\x00"), 0o600), os.WriteFile(filepath.Join(proc, "locks"), []byte(tc.locks), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, holders(f, proc)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A file that is only mapped is used, too; this process is not one of the users.
func TestUsersRecorded(t *testing.T) {
	path, f := readOnly(t)
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	proc := t.TempDir()
	for _, dir := range []string{"self/fd", "21/fd", "22/fd", "23/fd", fmt.Sprintf("%d/fd", os.Getpid())} {
		if err := os.MkdirAll(filepath.Join(proc, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	fd := fmt.Sprint(f.Fd())
	err = errors.Join(os.Symlink(path, filepath.Join(proc, "self/fd", fd)), os.Symlink(path, filepath.Join(proc, fmt.Sprintf("%d/fd/3", os.Getpid()))),
		os.Symlink(path, filepath.Join(proc, "21/fd/7")), os.Symlink(path+"x", filepath.Join(proc, "22/fd/7")),
		os.WriteFile(filepath.Join(proc, "22/maps"), []byte("7f00-7f01 r--s 0 fe:01 5 "+path+"x\n"), 0o600),
		os.WriteFile(filepath.Join(proc, "23/maps"), []byte("7f00-7f01 r--s 0 fe:01 5  "+path+"\n"), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Process{{21, ""}, {23, ""}}, users(f, proc)); diff != "" {
		t.Error(diff)
	}
}
