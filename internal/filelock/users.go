package filelock

import (
	"fmt"
	"os"
)

// Holders are the processes that have a lock on f, as far as they are visible: none in another process namespace.
func Holders(f *os.File) []Process { return holders(f, "/proc") }

// Users are the other processes that have f open or map it by the path that it was opened by, as far as they are visible:
// other users' are for root only. It looks at every process of the machine, so it is for errors.
func Users(f *os.File) []Process { return users(f, "/proc") }

// Blame says why the page cache may have lost or got pages of files that this process left alone. Another process is the
// likely cause if one has them open; other is what else it may be.
func Blame(other string, fs ...*os.File) string {
	var found []Process
	for _, f := range fs {
		for _, p := range Users(f) {
			if !contains(found, p.PID) {
				found = append(found, p)
			}
		}
	}
	if len(found) == 0 {
		return other + ", or another process evicts or warms it, or drops the machine's cache (none is seen to have it open now)"
	}
	return fmt.Sprintf("likely another process evicts or warms it (it is open in %s); or %s", Names(found), other)
}
