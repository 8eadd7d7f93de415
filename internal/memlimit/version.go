package memlimit

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// A version is what differs between the two versions of control groups. dir is a group's directory.
type version interface {
	String() string
	setLimit(f files, dir string, bytes int64) error // and no swap
	lift(f files, dir string) error
	limit(f files, dir string) (int64, error) // Unlimited, if there is none or the group cannot have one
	usage(f files, dir string) (Usage, error)
	limitFile() string // the file that has the limit
	oomEvents() string // the file that has a line "oom_kill N"
}

type v1 struct{}

func (v1) String() string    { return "control groups version 1" }
func (v1) limitFile() string { return "memory.limit_in_bytes" }
func (v1) oomEvents() string { return "memory.oom_control" }

// swapSlack is how far the limit on memory and swap lies above that on memory, in bytes. Were they alike, the
// kernel would meet the former first and, at least in Linux 6.18, not count that in any failcnt. No swappiness
// keeps reclaim within the group from swapping anyway; the slack is what could be swapped if the whole machine
// ran out of memory.
const swapSlack = 4 << 20

func (v v1) setLimit(f files, dir string, bytes int64) error {
	// The limit on memory and swap may not be below that on memory: it goes first upwards, and last downwards.
	swap := path.Join(dir, "memory.memsw.limit_in_bytes")
	err := f.Write(swap, "-1")
	accounted := !notThere(err)
	if accounted && err != nil {
		return err
	}
	if err := f.Write(path.Join(dir, "memory.swappiness"), "0"); err != nil {
		return err
	}
	if err := write(f, path.Join(dir, v1{}.limitFile()), bytes); err != nil {
		return err
	}
	if !accounted {
		return nil
	}
	return write(f, swap, bytes+swapSlack)
}

func (v1) lift(f files, dir string) error {
	err := f.Write(path.Join(dir, "memory.memsw.limit_in_bytes"), "-1")
	if notThere(err) {
		err = nil
	}
	return errors.Join(err, f.Write(path.Join(dir, v1{}.limitFile()), "-1"))
}

func (v1) limit(f files, dir string) (int64, error) {
	n, err := number(f, path.Join(dir, v1{}.limitFile()))
	const none = 1 << 60 // or more: the kernel's largest number of pages, in bytes
	if err == nil && n >= none {
		return Unlimited, nil
	}
	return n, err
}

func (v v1) usage(f files, dir string) (u Usage, err error) {
	for _, field := range []struct {
		file string
		n    *int64
	}{
		{"memory.usage_in_bytes", &u.Current},
		{"memory.max_usage_in_bytes", &u.Peak},
		{"memory.failcnt", &u.Events.AtLimit},
	} {
		if *field.n, err = number(f, path.Join(dir, field.file)); err != nil {
			return u, err
		}
	}
	if u.Limit, err = v.limit(f, dir); err != nil {
		return u, err
	}
	oom, err := f.Read(path.Join(dir, v.oomEvents()))
	if err != nil {
		return u, err
	}
	u.Events.OOMKills = lookup(parseTable(oom), "oom_kill") // Linux 4.13 and later
	return u, readStat(f, dir, &u, "total_cache", "total_rss", "total_")
}

// notThere says whether a file of swap accounting is not there, or only in name, as with swapaccount=0.
func notThere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EOPNOTSUPP)
}

type v2 struct{}

func (v2) String() string    { return "control groups version 2" }
func (v2) limitFile() string { return "memory.max" }
func (v2) oomEvents() string { return "memory.events" }

func (v2) setLimit(f files, dir string, bytes int64) error {
	err := f.Write(path.Join(dir, "memory.swap.max"), "0")
	if errors.Is(err, fs.ErrNotExist) {
		// No swap accounting: all is well if there is no swap either, that is, only the heading.
		swaps, readErr := f.Read("/proc/swaps")
		if err = readErr; errors.Is(readErr, fs.ErrNotExist) || readErr == nil && strings.Count(strings.TrimSpace(swaps), "\n") == 0 {
			err = nil
		} else if readErr == nil {
			err = unsupported("keeping the group %s from swapping: this kernel has no memory.swap.max, and swap is in use; what would help: sudo swapoff -a", dir)
		}
	}
	if err != nil {
		return err
	}
	return write(f, path.Join(dir, v2{}.limitFile()), bytes)
}

func (v2) lift(f files, dir string) error { return f.Write(path.Join(dir, v2{}.limitFile()), "max") }

func (v2) limit(f files, dir string) (int64, error) {
	n, err := number(f, path.Join(dir, v2{}.limitFile()))
	if errors.Is(err, fs.ErrNotExist) { // the root, or no memory controller in this group
		return Unlimited, nil
	}
	return n, err
}

func (v v2) usage(f files, dir string) (u Usage, err error) {
	if u.Limit, err = v.limit(f, dir); err != nil {
		return u, err
	}
	if u.Current, err = number(f, path.Join(dir, "memory.current")); err != nil {
		return u, err
	}
	if u.Peak, err = number(f, path.Join(dir, "memory.peak")); errors.Is(err, fs.ErrNotExist) {
		u.Peak, err = Unknown, nil
	}
	if err != nil {
		return u, err
	}
	events, err := f.Read(path.Join(dir, v.oomEvents()))
	if err != nil {
		return u, err
	}
	table := parseTable(events)
	u.Events.AtLimit, u.Events.OOMKills = lookup(table, "max"), lookup(table, "oom_kill")
	return u, readStat(f, dir, &u, "file", "anon", "")
}

// readStat takes from memory.stat what both versions tell, under names of their own.
func readStat(f files, dir string, u *Usage, file, anon, prefix string) error {
	name := path.Join(dir, "memory.stat")
	stat, err := f.Read(name)
	if err != nil {
		return err
	}
	table := parseTable(stat)
	u.File, u.Anon = lookup(table, file), lookup(table, anon)
	active, inactive := lookup(table, prefix+"active_file"), lookup(table, prefix+"inactive_file")
	if min(u.File, u.Anon, active, inactive) == Unknown {
		return fmt.Errorf("%s: %q, %q, %sactive_file or %sinactive_file is missing", name, file, anon, prefix, prefix)
	}
	u.Reclaimable = active + inactive
	u.Events.Refaults = lookup(table, prefix+"workingset_refault_file", prefix+"workingset_refault") // before 5.9: one
	u.Events.Scanned, u.Events.Stolen = lookup(table, prefix+"pgscan"), lookup(table, prefix+"pgsteal")
	return nil
}

// number reads a file that holds one number, or "max".
func number(f files, name string) (int64, error) {
	text, err := f.Read(name)
	if err != nil {
		return 0, err
	}
	text = strings.TrimSpace(text)
	if text == "max" {
		return Unlimited, nil
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: not a number of bytes: %q", name, text)
	}
	return int64(min(n, Unlimited)), nil
}

// write sets a number and looks whether it is the one that counts now.
func write(f files, name string, n int64) error {
	if err := f.Write(name, strconv.FormatInt(n, 10)); err != nil {
		return err
	}
	if got, err := number(f, name); err != nil || got != n {
		return errors.Join(err, fmt.Errorf("%s: %d was set, and it is %d", name, n, got))
	}
	return nil
}
