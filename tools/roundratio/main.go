// Roundratio divides what one file of benchmark results says by what others say, round by round.
//
//	roundratio [-unit UNIT] OURS THEIRS…         every row of OURS by the row of the same name in each THEIRS
//	roundratio -best [-unit UNIT] OURS THEIRS…   the best row of OURS by the best row of all of THEIRS
//	roundratio -top N [-unit UNIT] FILE          the names of the N best rows of FILE, the best first
//
// The files are in Go benchmark format. A configuration line "round: NAME" says to which round the rows below it belong;
// rows of different files that have the same are compared, as they were measured soon after each other. UNIT is as
// benchstat has it (B/s, which is the default, cpu-sec/op, …). The best row is the one with the highest median over its rounds.
//
// A line of the result has the medians of both; their ratio; the median, the least and the greatest of the ratios of
// single rounds; and how many rounds both have.
//
// The best row is chosen by the rounds that it is then judged by, so a row that chance favours seems a little better than it is:
// on both sides, the more, the more rows there are to choose from.
//
// The exit status is 0, 1 if there is nothing to compare or a file cannot be used, 2 if the command line is wrong.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2

	usage = "usage: roundratio [-best] [-unit UNIT] OURS THEIRS…\n       roundratio -top N [-unit UNIT] FILE\n"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("roundratio", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	unit := fs.String("unit", "B/s", "")
	best := fs.Bool("best", false, "")
	top := fs.Int("top", 0, "")
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		return exitOK
	case err != nil:
	case *top < 0 || *top > 0 && (*best || fs.NArg() != 1):
		err = errors.New("-top takes a number from 1 and one file")
	case *top == 0 && fs.NArg() < 2:
		err = errors.New("two files or more are wanted")
	}
	if err != nil {
		fmt.Fprintf(stderr, "roundratio: %v\n%s", err, usage)
		return exitUsage
	}
	if err := report(stdout, fs.Args(), *unit, *best, *top); err != nil {
		fmt.Fprintf(stderr, "roundratio: %v\n", err)
		return exitFailed
	}
	return exitOK
}

func report(w io.Writer, paths []string, unit string, best bool, top int) error {
	var files []*file
	for _, path := range paths {
		f, err := readFile(path, unit)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	if top > 0 {
		for _, r := range files[0].best(top) {
			if _, err := fmt.Fprintln(w, r.name); err != nil {
				return err
			}
		}
		return nil
	}
	ours, theirs := files[0], files[1:]
	var ratios []ratio
	if best {
		ratios = append(ratios, divide(ours.best(1)[0], bestOf(theirs)))
	} else {
		ratios = divideAll(ours, theirs)
	}
	if len(ratios) == 0 || ratios[0].rounds == 0 && best {
		return fmt.Errorf("%s and %v: no rows to compare have a round in common", paths[0], paths[1:])
	}
	return printRatios(w, ratios, unit)
}

func printRatios(w io.Writer, ratios []ratio, unit string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "row\tagainst\t%s\tits %s\tratio\tof rounds\tleast\tgreatest\trounds\n", unit, unit)
	for _, r := range ratios {
		fmt.Fprintf(t, "%s\t%s\t%.4g\t%.4g\t%.3f\t%.3f\t%.3f\t%.3f\t%d\n",
			r.ours.name, r.theirs, r.median, r.theirMedian, r.median/r.theirMedian, r.ofRounds, r.least, r.greatest, r.rounds)
	}
	return t.Flush()
}
