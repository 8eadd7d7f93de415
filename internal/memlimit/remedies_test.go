package memlimit

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Each remedy, pasted into a shell, does what it says where it says, be the path what it may.
func TestRemediesPasted(t *testing.T) {
	for _, c := range []struct {
		rule    string
		version version
		cause   error
		remedy  remedy
		makes   string // below the mount: a file or directory
	}{
		{"topmost", v2{}, syscall.EBUSY, remedyTopmost, "top/init/cgroup.procs"},
		{"topmost, passed on", v2{}, syscall.EBUSY, remedyTopmost, "top/cgroup.subtree_control"},
		{"rights, version 1", v1{}, syscall.EACCES, remedyRights, "readbench-of-somebody/cgroup.procs"},
		{"rights, version 2", v2{}, syscall.EACCES, remedyRights, ""},
		{"not passed on", v2{}, syscall.ENOENT, remedyDelegate, "cgroup.subtree_control"},
		{"read only", v2{}, syscall.EROFS, remedyRights, ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			mount, bin := filepath.Join(t.TempDir(), "it's a $HOME of groups"), t.TempDir()
			home := mount + "/top"
			err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(home+"/cgroup.procs", []byte("1\n"), 0o600))
			for name, text := range map[string]string{"sudo": `exec "$@"`, "COMMAND": "echo it runs", "chown": "", "systemd-run": "", "docker": ""} {
				err = errors.Join(err, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
			}
			if err != nil {
				t.Fatal(err)
			}
			ctl := &Controller{files: with(user(), map[string]string{"/run/systemd/system": "there"}), version: c.version, mount: mount, home: home, parent: home}
			lines := ctl.remedies(c.cause, c.remedy)
			if len(lines) == 0 {
				t.Fatal("there is none")
			}
			for _, line := range lines {
				cmd := exec.Command("sh", "-ec", line)
				cmd.Dir = t.TempDir()
				cmd.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "USER=somebody", "HOME=/wrong"}
				out, err := cmd.CombinedOutput()
				if err != nil || !strings.Contains(line, "systemd-run") && !strings.Contains(line, "docker") && !strings.HasSuffix(string(out), "it runs\n") {
					t.Errorf("%s: %v\n%s", line, err, out)
				}
			}
			if _, err := os.Stat(filepath.Join(mount, c.makes)); err != nil {
				t.Errorf("%v; the remedies were:\n%s", err, strings.Join(lines, "\n"))
			}
		})
	}
}
