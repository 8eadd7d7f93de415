// Dropcache removes files from the page cache, and shows how much of each was there before and after.
//
//	dropcache [-force] PATH…    evict these files (or block devices)
//	dropcache -all              drop the clean, unmapped pages of the whole machine's cache; needs root
//
// Examples:
//
//	dropcache /mnt/nvme/data
//	sudo dropcache -all
//
// For each file it prints one line: the pages (of the system's page size) that the page cache held before and
// after. Dirty pages are written back first. Pages that a process maps cannot be evicted.
//
// A file that a benchmark of readbench reads at that moment is left alone, as its rows would fail: dropcache names the
// process. With -force it evicts the file nevertheless. -all does not look who reads what.
//
// The exit status is 0 if at most 0.1 % of each file's pages stayed, 1 if more did or something failed (standard error
// says why), 2 if the command line is wrong. It works on Linux only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/readbench/suite/internal/filelock"
	"github.com/readbench/suite/internal/pagecache"
	"github.com/readbench/suite/internal/userfile"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	usage = "usage: dropcache [-force] PATH…\n       dropcache -all\n"
	limit = 0.001 // share of pages that may stay
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("dropcache", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	all := fs.Bool("all", false, "drop the whole machine's page cache (needs root)")
	force := fs.Bool("force", false, "evict files that a benchmark reads, too")
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		return exitOK
	case err != nil:
	case *all && fs.NArg() > 0:
		err = errors.New("-all drops everything: leave out the paths, or -all")
	case !*all && fs.NArg() == 0:
		err = errors.New("nothing to do: name files, or -all for the whole machine")
	}
	if err != nil {
		fmt.Fprintf(stderr, "dropcache: %v\n%s", err, usage)
		return exitUsage
	}
	if *all {
		return report(dropAll(stdout), stderr)
	}
	code := exitOK
	for _, path := range fs.Args() {
		code = max(code, report(drop(path, *force, stdout, stderr), stderr))
	}
	return code
}

// report prints err, if there is one, and returns the exit status.
func report(err error, stderr io.Writer) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "dropcache: %v\n", err)
	return exitFailed
}

func dropAll(stdout io.Writer) error {
	if err := pagecache.DropAll(); err != nil {
		return err
	}
	_, err := fmt.Fprintln(stdout, "dropped the machine's page cache, but for dirty and mapped pages")
	return err
}

// drop evicts one file, and prints how much of it was and is in the page cache.
func drop(path string, force bool, stdout, stderr io.Writer) (err error) {
	f, err := userfile.Open(context.Background(), path, userfile.RegularOrDisk)
	if err != nil {
		return fmt.Errorf("evicting %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := filelock.Try(f, filelock.Exclusive); errors.Is(err, filelock.ErrHeld) {
		by := filelock.Names(filelock.Holders(f))
		if !force {
			return fmt.Errorf("evicting %s: it is in use by %s, whose rows would fail: wait for its end, or evict it with -force", path, by)
		}
		fmt.Fprintf(stderr, "dropcache: %s is in use by %s, whose rows may fail now\n", path, by)
	} else if err != nil && !errors.Is(err, filelock.ErrUnsupported) { // then no benchmark has a lock either
		return fmt.Errorf("evicting %s: %w", path, err)
	}
	size, err := f.Seek(0, io.SeekEnd) // tells the size of devices, too
	if err != nil {
		return fmt.Errorf("evicting %s: its size: %w", path, err)
	}
	if size == 0 {
		_, err := fmt.Fprintf(stdout, "%s: empty\n", path)
		return err
	}
	before, err := pagecache.Resident(f, 0, size)
	if err != nil {
		return fmt.Errorf("evicting %s: %w", path, err)
	}
	evictor := pagecache.Evictor{Limit: limit}
	after, err := evictor.Evict(context.Background(), f, size)
	if err != nil && !errors.Is(err, pagecache.ErrUnsupported) {
		return err
	}
	_, printErr := fmt.Fprintf(stdout, "%s: before %v, after %v\n", path, before, after)
	return errors.Join(err, printErr)
}
