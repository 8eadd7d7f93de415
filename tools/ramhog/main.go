// Ramhog takes memory away from everybody on the machine until it is interrupted.
//
//	ramhog -leave SIZE    take so much that SIZE stays available
//	ramhog -take SIZE     take SIZE
//
// SIZE is a number of bytes, or of KiB, MiB, GiB, TiB. Example: benchmarks with 4 GiB for the page cache:
//
//	sudo ramhog -leave 4GiB &
//	…
//	kill %1
//
// The memory is allocated, touched and locked: it is neither swapped nor reclaimed. When all of it is taken,
// ramhog prints one line on standard output, which starts with "ready" and which scripts can wait for:
//
//	ramhog -leave 4GiB | { read -r ready; make bench; pkill -x ramhog; }
//
// It goes on until SIGINT or SIGTERM. In whatever way it ends, the kernel has the memory back.
//
// Available memory is MemAvailable of /proc/meminfo, or, in a memory-limited control group, what is missing to
// its limit, if that is less. At least 512MiB of it stay: ramhog refuses to take more. If memory runs out
// nevertheless, ramhog is the first process that the kernel kills.
//
// Locked memory is limited by RLIMIT_MEMLOCK (ulimit -l), which ramhog raises if it may: run it as root, or
// raise the hard limit.
//
// The exit status is 0 after an interrupt, 1 if the memory could not be taken (standard error says why), 2 if the
// command line is wrong, 130 after an interrupt before it was ready. It works on Linux only.
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

	"github.com/readbench/suite/internal/memhog"
	"github.com/readbench/suite/readbench/config"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130

	usage = "usage: ramhog -leave SIZE\n       ramhog -take SIZE\n"
)

func main() {
	if err := volunteer(); err != nil {
		fmt.Fprintf(os.Stderr, "ramhog: %v\n", err)
		os.Exit(exitFailed)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run takes memory until ctx ends.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	take, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usage)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "ramhog: %v\n%s", err, usage)
		return exitUsage
	}
	err = hog(ctx, take, stdout)
	switch {
	case err == nil:
		return exitOK
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "ramhog: interrupted before it was ready")
		return exitInterrupted
	}
	fmt.Fprintf(stderr, "ramhog: %v\n", err)
	return exitFailed
}

type taker func(context.Context) (*memhog.Hog, error)

func parse(args []string) (taker, error) {
	var leave, take config.Size
	fs := flag.NewFlagSet("ramhog", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run reports errors
	fs.TextVar(&leave, "leave", config.Size(0), "")
	fs.TextVar(&take, "take", config.Size(0), "")
	if err := fs.Parse(args); err != nil {
		return nil, err
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case fs.NArg() > 0:
		return nil, fmt.Errorf("there are only flags, and no arguments: %q", fs.Args())
	case given["leave"] && given["take"]:
		return nil, errors.New("-leave says what stays, -take what goes: give one of them")
	case given["leave"] && leave < memhog.Floor:
		return nil, fmt.Errorf("-leave %s: at least %s must stay", leave, config.Size(memhog.Floor))
	case given["take"] && take == 0:
		return nil, errors.New("-take 0: take more")
	case given["leave"]:
		return func(ctx context.Context) (*memhog.Hog, error) { return memhog.Leave(ctx, int64(leave)) }, nil
	case given["take"]:
		return func(ctx context.Context) (*memhog.Hog, error) { return memhog.Take(ctx, int64(take)) }, nil
	}
	return nil, errors.New("how much? Give -leave or -take")
}

func hog(ctx context.Context, take taker, stdout io.Writer) (err error) {
	h, err := take(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.Close()) }()
	left, err := h.Left()
	if err != nil {
		return err
	}
	const mib = 1 << 20
	if _, err := fmt.Fprintf(stdout, "ready: took %s, %s are available\n", config.Size(h.Bytes()), config.Size(left/mib*mib)); err != nil {
		return fmt.Errorf("saying that it is ready: %w", err)
	}
	<-ctx.Done()
	return nil
}
