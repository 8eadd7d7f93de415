package filelock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// holders reads /proc/locks, whose lines are
//
//	3: FLOCK  ADVISORY  WRITE 4711 fe:01:131 0 EOF
//
// with the process, and device (hexadecimal) and inode of the file. On btrfs and overlayfs the device there is not the one
// that stat tells: then the inode has to do.
func holders(f *os.File, proc string) []Process {
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return nil
	}
	text, err := os.ReadFile(filepath.Join(proc, "locks"))
	if err != nil {
		return nil
	}
	device := fmt.Sprintf("%02x:%02x", unix.Major(uint64(st.Dev)), unix.Minor(uint64(st.Dev)))
	var exact, likely []Process
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 || fields[1] != "FLOCK" {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		at := strings.LastIndexByte(fields[5], ':')
		if err != nil || at < 0 || fields[5][at+1:] != strconv.FormatUint(st.Ino, 10) {
			continue
		}
		p := Process{pid, command(proc, pid)}
		likely = append(likely, p)
		if fields[5][:at] == device {
			exact = append(exact, p)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return likely
}

// users compares names, and asks no file for its inode: that would wait for a file system that does not answer.
func users(f *os.File, proc string) (ps []Process) {
	name, err := os.Readlink(filepath.Join(proc, "self/fd", strconv.Itoa(int(f.Fd()))))
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(proc)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if opens(filepath.Join(proc, e.Name()), name) {
			ps = append(ps, Process{pid, command(proc, pid)})
		}
	}
	return ps
}

func opens(dir, name string) bool {
	fds, _ := os.ReadDir(filepath.Join(dir, "fd")) // what may not be looked at, or is gone, is not seen
	for _, fd := range fds {
		if target, err := os.Readlink(filepath.Join(dir, "fd", fd.Name())); err == nil && target == name {
			return true
		}
	}
	maps, _ := os.ReadFile(filepath.Join(dir, "maps"))
	return strings.Contains(string(maps), " "+strings.ReplaceAll(name, "\n", `\012`)+"\n")
}

// command is the command line of a process, shortened.
func command(proc string, pid int) string {
	const most = 120
	text, err := os.ReadFile(filepath.Join(proc, strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	line := strings.ToValidUTF8(strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, string(text))), "?")
	if len(line) > most {
		line = strings.ToValidUTF8(line[:most], "") + "…"
	}
	return line
}
