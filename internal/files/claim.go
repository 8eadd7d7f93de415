package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/notice"
	"github.com/readbench/suite/internal/userfile"
	"github.com/readbench/suite/readbench/config"
)

// mode is the lock that a run wants.
func mode(s config.Share) filelock.Mode {
	if s == config.ShareShare {
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
func claim(ctx context.Context, c *config.Config, f *os.File) error {
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

func lock(ctx context.Context, share config.Share, f *os.File) error {
	const moment = 200 * time.Millisecond // who looks at a file, or has just made it, may lock it for so long
	soon, cancel := context.WithTimeout(ctx, moment)
	defer cancel()
	err := filelock.Wait(soon, f, mode(share))
	if soon.Err() == nil || err == nil {
		return err
	}
	by := filelock.Names(filelock.Holders(f))
	if share == config.ShareGo {
		notice.Printf("%s is in use by %s: this run goes on beside it (%sSHARE=%s), and rows that one of them spoils fail", f.Name(), by, config.EnvPrefix, share)
		if err := filelock.Try(f, filelock.Shared); !errors.Is(err, filelock.ErrHeld) { // at least that
			return err
		}
		return nil
	}
	notice.Printf("%s is in use by %s: waiting for it to end (%sSHARE=%s; %s goes on beside it)", f.Name(), by, config.EnvPrefix, share, config.ShareGo)
	defer notice.Slow("waiting for %s, which %s uses", f.Name(), by)()
	if err := filelock.Wait(ctx, f, mode(share)); err != nil {
		if ctx.Err() != nil {
			return config.BadValue("SHARE", string(share), fmt.Errorf("%s was in use by %s all the time: %w; wait for its end, or %s goes on beside it",
				f.Name(), filelock.Names(filelock.Holders(f)), err, config.ShareGo))
		}
		return err
	}
	return nil
}
