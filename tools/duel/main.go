// Duel says which of several ways to read is faster here, and by how much. The contestants take turns of some milliseconds, in an order that is drawn
// at random, so that the drift of a disk falls on all of them alike. How sure one may be of what it says: docs/duel.md.
//
//	duel -bench REGEXP -against REGEXP PACKAGE        two benchmarks of one package
//	duel -bench REGEXP -vary NAME=VALUE,VALUE… PACKAGE    values of one environment variable
//	duel -bench REGEXP BINARY BINARY…                 test binaries, or packages; rows of the same name
//	duel -race -bench REGEXP PACKAGE…                 all rows of a case and number of threads: which is the fastest?
//
// A PACKAGE is built with "go test -c"; a BINARY is what that makes, and runs in the current directory. READBENCH_* variables are those of all contestants. A row's
// labels case, read, threads, procs, topk and rate say what has to be done; there is a duel for each. The function's name and all other labels say who
// does it. Without -race rows belong together that have the same function and labels; then those with the same labels; then with the same
// function; then what is left, if it is one row on each side. With -race BenchmarkNull, which reads nothing, does not take part.
//
//	duel -bench '^BenchmarkPread$' -against '^BenchmarkReadAt$' ./readbench/random
//	duel -bench 'MmapRandomPrefetch$' -vary READBENCH_POLICIES=backoff,adaptive ./readbench/random
//	duel -bench . old.test new.test
//	duel -race -bench . ./readbench/random
//
// A duel ends when the interval of the ratio excludes "no difference", or lies within -resolve, or the time of -budget is spent. The length of a turn is
// chosen in some rounds that do not count: -turn, or 4 ops of average length of the slowest, whichever is longer.
//
// The formats: text is words, and a table; bench is Go benchmark format, a line for each turn (benchstat -col /contestant); json is one object with
// all duels. With -o the file gets the format, and standard output the words.
//
// The exit status is 0 if every duel has an answer, be it "not decided" or that it cannot be run here; 1 if one failed: a contestant's evidence contradicts its label, or
// it died, hung, or is not what was asked for; 2 if the command line, a package or a binary cannot be used; 130 after SIGINT or SIGTERM.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

//go:embed main.go
var source string

// manual is the comment above.
func manual() string {
	text, _, _ := strings.Cut(source, "\npackage main")
	text = strings.ReplaceAll("\n"+text, "\n//", "\n")
	return strings.ReplaceAll(text, "\n ", "\n")[1:] + "\n"
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(stdout, "%s\nFlags:\n%s", manual(), o.flags)
		return exitOK
	}
	if err != nil {
		fmt.Fprintf(stderr, "duel: %v\nduel -h shows the manual\n", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	failed, err := hold(ctx, o, stdout, stderr)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "duel: interrupted")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "duel: %v\n", err)
		return exitUsage
	case failed:
		return exitFailed
	}
	return exitOK
}
