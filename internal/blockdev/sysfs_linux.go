package blockdev

// How sysfs is read: where a device is, and what its files say.

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// directory is where sysfs describes the device of a number.
func (w *walk) directory(number string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Join(w.sys, "dev/block", number))
	if err != nil || number == "" {
		return "", fmt.Errorf("sysfs lists no device %s", cmp.Or(number, "of that name"))
	}
	return dir, nil
}

// plain is the name of a device in sysfs as /proc/diskstats and /dev have it.
func plain(dir string) string { return strings.ReplaceAll(filepath.Base(dir), "!", "/") }

func exists(elem ...string) bool {
	_, err := os.Stat(filepath.Join(elem...))
	return err == nil
}

// content is a file's text without the space around it, "" if it cannot be read.
func content(elem ...string) string {
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
