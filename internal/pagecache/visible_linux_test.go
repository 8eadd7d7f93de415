package pagecache

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// as runs f with the effective user id on this thread alone.
func as(t *testing.T, uid int, f func()) {
	t.Helper()
	const keep = ^uintptr(0)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, keep, uintptr(uid), keep); errno != 0 {
		t.Fatal(errno)
	}
	defer unix.RawSyscall(unix.SYS_SETRESUID, keep, 0, keep)
	f()
}

// Who neither owns a file nor may write it is not told its residency by the kernel: mincore would say that all
// is resident. An answer that is no answer is an error.
func TestResidentOfSomebodyElsesFile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can look at a file as somebody else")
	}
	const nobody, other = 65534, 65533
	f := newFile(t, 4*page)
	evict(t, f, 4*page)
	dir := filepath.Dir(f.Name())
	if err := errors.Join(os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
		t.Fatal(err) // everybody may get there, whoever may write what is there
	}
	for _, c := range []struct {
		rule   string
		owner  int
		mode   os.FileMode
		user   int
		hidden bool
	}{
		{"the owner, who may not write it", nobody, 0o444, nobody, false},
		{"somebody who may write it", other, 0o666, nobody, false},
		{"somebody who may only read it", other, 0o644, nobody, true},
		{"root", other, 0o444, 0, false},
	} {
		if err := errors.Join(f.Chown(c.owner, -1), f.Chmod(c.mode)); err != nil {
			t.Fatal(err)
		}
		as(t, c.user, func() {
			r, err := Resident(f, 0, 4*page)
			if c.hidden && (!errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), f.Name())) {
				t.Errorf("%s: %v, %v", c.rule, r, err)
			}
			if want := (Residency{Pages: 4}); !c.hidden && (err != nil || r != want) {
				t.Errorf("%s: %v, %v, want %v", c.rule, r, err, want)
			}
			if err := Visible(f); (err != nil) != c.hidden {
				t.Errorf("%s: Visible says %v", c.rule, err)
			}
		})
	}
}
