// Fio2bench turns the JSON output of fio (3.x) into Go benchmark format, so that benchstat can set fio's rows
// beside ours.
//
//	fio2bench [-reads N] [FILE…]
//
// Without FILE it reads standard input. An input may hold several outputs of fio, one after the other. Examples:
//
//	fio --output-format=json --output=fio.json random.fio
//	fio2bench fio.json > fio.txt
//	benchstat fio.txt readbench.txt
//
//	fio --output-format=json random.fio | fio2bench -reads 16
//
// Each job becomes one line. Its name is BenchmarkFio and the name of the job, so a job called Mmap/case=hot/threads=1
// is BenchmarkFioMmap/case=hot/threads=1. One op is N reads (-reads, 16 if not given), as many as readbench's
// READBENCH_READS_PER_OP. The number after the name is fio's count of reads, not of ops.
//
//	ns/op       wall time of N reads, all processes of the job together: 10⁹·N/iops
//	MB/s        10⁶ bytes a second
//	ops/ms      ops per millisecond
//	cpu-ns/op   user and system time of the job's processes per op. fio gives them in percent of the job's run time, which
//	            is the sum over its processes; kernel threads (SQPOLL, io_uring workers) are not in it.
//
// Latencies are left out: fio's are those of one read, not of an op.
//
// A job must read only, and must have run alone: give each job section stonewall, and group_reporting for
// numjobs above 1. With group_reporting, sections without stonewall between them are summed under the first
// one's name, and nothing in fio's output tells. What is not fit is left out, with the cause on standard error.
//
// The exit status is 0 if every job became a line, 1 if not, 2 if the command line is wrong.
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

	usage    = "usage: fio2bench [-reads N] [FILE…]\n  -reads N   reads of one op (default 16)\n"
	maxReads = 1 << 16 // as READBENCH_READS_PER_OP
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("fio2bench", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	reads := fs.Int("reads", 16, "reads of one op")
	err := fs.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stderr, usage)
		return exitOK
	case err == nil && (*reads < 1 || *reads > maxReads):
		err = fmt.Errorf("-reads %d: an op has 1 to %d reads", *reads, maxReads)
	}
	if err != nil {
		fmt.Fprintf(stderr, "fio2bench: %v\n%s", err, usage)
		return exitUsage
	}
	rows, errs := convertAll(fs.Args(), stdin, *reads)
	if _, err := io.WriteString(stdout, format(rows)); err != nil {
		errs = append(errs, fmt.Errorf("writing the benchmark lines: %w", err))
	}
	for _, err := range errs {
		fmt.Fprintf(stderr, "fio2bench: %v\n", err)
	}
	if len(errs) > 0 {
		return exitFailed
	}
	return exitOK
}

// convertAll converts the files, or stdin if there are none. Rows are good even if there are errors.
func convertAll(paths []string, stdin io.Reader, reads int) (rows []row, errs []error) {
	if len(paths) == 0 {
		data, err := io.ReadAll(stdin)
		if err != nil {
			return nil, []error{fmt.Errorf("reading standard input: %w", err)}
		}
		return convert("standard input", data, reads)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			errs = append(errs, fmt.Errorf("reading fio's output: %w", err))
			continue
		}
		r, e := convert(path, data, reads)
		rows, errs = append(rows, r...), append(errs, e...)
	}
	return rows, errs
}
