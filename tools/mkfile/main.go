// Mkfile makes and checks data files: files of known, incompressible content for benchmarks to read.
//
//	mkfile [-size SIZE] [-seed N] [-force] [PATH]
//	mkfile -check [-size SIZE] [-seed N] [PATH]
//
// Without PATH it is the file that benchmarks use when READBENCH_FILE is not set, in the user's cache
// directory. SIZE is a number of bytes, or of KiB, MiB, GiB, TiB, and a multiple of 4KiB. Examples:
//
//	mkfile                                       the default file
//	mkfile -size 16GiB -seed 7 /mnt/nvme/data    16 GiB, content of seed 7
//	mkfile -check /mnt/nvme/data                 all of it, against the seed that its first block tells
//	mkfile -check -size 16GiB -seed 7 /mnt/nvme/data    and is it this one?
//
// Making one prints one line: what was made, in how many seconds and at how many MB/s (10⁶ bytes a second), or
// that it was there already (right size, right first block). The file grows as PATH.part and gets its name when
// it is whole; an interrupt removes the part file. What is at PATH, a data file of another size or seed or any
// other file, is replaced only with -force; with it a right file is made anew, too. A file that a benchmark reads at
// that moment is not replaced: mkfile says which process it is, and ends.
//
// -check reads the file through the page cache: run dropcache on it first to check what the device holds. It
// names the first bad block (of 4096 bytes, counted from 0). A file cut off at a multiple of 4096 bytes shows
// only with -size.
//
// The exit status is 0 if all is well, 1 if not, 2 if the command line is wrong, 130 after SIGINT or SIGTERM.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "mkfile: %v\nmkfile -h shows the usage\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	act := makeFile
	if o.check {
		act = checkFile
	}
	line, err := act(ctx, o, stderr)
	if err == nil {
		_, err = fmt.Fprintln(stdout, line)
	}
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "mkfile: %v\n", err)
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	return exitFailed
}
