// Policyshare says how near each prefetch policy comes to the best one, from the rounds of a comparison (make
// policies).
//
//	policyshare ROUND.txt…
//
// Each file is one round, in Go benchmark format: every row in it at most once. All were measured alike: their
// configuration lines (file-size, kernel, policy-always, …) are the same. Rows that differ only in policy=NAME
// are a cell: one case, one number of threads, one read size. The best of a cell is the policy whose ops/ms have the
// highest median, of those that have all rounds of the cell: one that has only the good rounds is not called the best.
// (If none has all of them, it is of all policies.) A policy's share is the median of (its ops/ms / the best's ops/ms) over the rounds
// that have both: so drift between rounds cancels out.
//
// A line that begins like a row and is none, as that of a row that failed, is left out and named on standard error.
//
// Standard output is a Markdown table, in percent, with the half-width of the 95 % confidence interval of the median
// where there are rounds enough for one (6); "?" stands for it where there are not, and "-" for a policy without
// rows. The last columns are the number of rounds of the cell, and which policies have fewer of them.
//
// The best is chosen by the same rounds that judge the others: where policies differ less than the interval, which
// of them is called the best is chance, and the rest seem a little worse than they are.
//
// The exit status is 0, 1 if a file cannot be used (nothing is printed then), 2 if the command line is wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	usage = "usage: policyshare ROUND.txt…\n  each file has one round: every row at most once\n"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("policyshare", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	switch err := fs.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "policyshare: %v\n%s", err, usage)
		return exitUsage
	case fs.NArg() == 0:
		fmt.Fprintf(stderr, "policyshare: no files\n%s", usage)
		return exitUsage
	}
	var t table
	for round, file := range fs.Args() {
		if err := t.readFile(file, round); err != nil {
			fmt.Fprintf(stderr, "policyshare: %v\n", err)
			return exitFailed
		}
	}
	for _, warning := range t.warnings {
		fmt.Fprintf(stderr, "policyshare: %s\n", warning)
	}
	if len(t.cells) == 0 {
		fmt.Fprintf(stderr, "policyshare: none of %d files has a row with policy=NAME and %s; they come from make policies, or READBENCH_POLICIES\n", fs.NArg(), unit)
		return exitFailed
	}
	if _, err := io.WriteString(stdout, t.markdown()); err != nil {
		fmt.Fprintf(stderr, "policyshare: writing the table: %v\n", err)
		return exitFailed
	}
	return exitOK
}
