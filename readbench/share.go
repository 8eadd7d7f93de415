package readbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/userfile"
)

// Share says what a run does about others on the same file.
//
// A run locks the files that it reads for as long as its process lives: exclusively, or with ShareShare against exclusive
// locks only. So runs that share are not in each other's way, but no other run is with them, and mkfile -force and
// dropcache find any of them out.
type Share string

// The values of READBENCH_SHARE.
const (
	ShareWait  Share = "wait"  // alone: waits for others to end
	ShareGo    Share = "go"    // alone if that is possible, else beside the others
	ShareShare Share = "share" // with others that share; waits for those that do not
)

// UnmarshalText parses one of the values.
func (s *Share) UnmarshalText(text []byte) error {
	return oneOf(s, text, ShareWait, ShareGo, ShareShare)
}

// mode is the lock that a run wants.
func (s Share) mode() filelock.Mode {
	if s == ShareShare {
		return filelock.Shared
	}
	return filelock.Exclusive
}

// claimed are the files that this process has locked. A lock belongs to an open file, so a process that locked one file
// twice would wait for itself.
var claimed struct {
	sync.Mutex
	files []*os.File // some of which may be closed, and so unlocked, meanwhile
}

// claim locks f as READBENCH_SHARE says, for as long as f is open. It waits for other runs until ctx ends.
func claim(ctx context.Context, c *Config, f *os.File) error {
	st, err := f.Stat()
	if err != nil {
		return err
	}
	claimed.Lock()
	defer claimed.Unlock()
	if slices.ContainsFunc(claimed.files, func(mine *os.File) bool {
		have, err := mine.Stat()
		return err == nil && os.SameFile(have, st)
	}) {
		return nil
	}
	switch err := lock(ctx, c.Share, f); {
	case errors.Is(err, filelock.ErrUnsupported):
		notice.Printf("%v: nothing keeps other runs off this file", err)
		return nil
	case err != nil:
		return err
	}
	claimed.files = append(claimed.files, f)
	again, err := userfile.Again(f, 0) // it may have been replaced while this run waited
	if err != nil {
		return err
	}
	return again.Close()
}

func lock(ctx context.Context, share Share, f *os.File) error {
	const moment = 200 * time.Millisecond // who looks at a file, or has just made it, may lock it for so long
	soon, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	err := filelock.Wait(soon, f, share.mode())
	if soon.Err() == nil || err == nil {
		return err
	}
	by := filelock.Names(filelock.Holders(f))
	if share == ShareGo {
		notice.Printf("%s is in use by %s: this run goes on beside it (%sSHARE=%s), and rows that one of them spoils fail", f.Name(), by, EnvPrefix, share)
		if err := filelock.Try(f, filelock.Shared); !errors.Is(err, filelock.ErrHeld) { // at least that
			return err
		}
		return nil
	}
	notice.Printf("%s is in use by %s: waiting for it to end (%sSHARE=%s; %s goes on beside it)", f.Name(), by, EnvPrefix, share, ShareGo)
	defer notice.Slow("waiting for %s, which %s uses", f.Name(), by)()
	if err := filelock.Wait(ctx, f, share.mode()); err != nil {
		if ctx.Err() != nil {
			return badValue("SHARE", string(share), fmt.Errorf("%s was in use by %s all the time: %w; wait for its end, or %s goes on beside it",
				f.Name(), filelock.Names(filelock.Holders(f)), err, ShareGo))
		}
		return err
	}
	return nil
}

// claim locks all files, in one order for all processes, so that no two wait for each other.
func (fs files) claim(ctx context.Context, c *Config) error {
	sorted := slices.SortedFunc(slices.Values(fs), func(a, b *File) int { return strings.Compare(a.path, b.path) })
	for _, f := range sorted {
		if err := claim(ctx, c, f.control); err != nil {
			return err
		}
	}
	return nil
}
