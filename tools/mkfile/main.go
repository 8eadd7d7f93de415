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
	"path/filepath"
	"syscall"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/userfile"
	"github.com/readbench/suite/readbench"
)

const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options is the command line.
type options struct {
	path        string
	size        readbench.Size
	seed        uint64
	force       bool
	check       bool
	given       map[string]bool // flags that were set
	defaultPath bool            // path was not given
}

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

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{given: map[string]bool{}}
	fs := flag.NewFlagSet("mkfile", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run reports errors
	fs.TextVar(&o.size, "size", readbench.DefaultSize, "`bytes` of the file: a multiple of 4KiB, such as 16GiB")
	fs.Uint64Var(&o.seed, "seed", 1, "`number` that the content is made from")
	fs.BoolVar(&o.force, "force", false, "make it anew, whatever is at PATH")
	fs.BoolVar(&o.check, "check", false, "make nothing, check the content of all of PATH")
	fs.Usage = func() {} // run says what is wrong; -h asks for all of it
	if err := fs.Parse(args); errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, "usage: mkfile [-size SIZE] [-seed N] [-force] [PATH]\n       mkfile -check [-size SIZE] [-seed N] [PATH]\n")
		fs.SetOutput(stderr)
		fs.PrintDefaults()
		return o, err
	} else if err != nil {
		return o, err
	}
	fs.Visit(func(f *flag.Flag) { o.given[f.Name] = true })
	switch {
	case fs.NArg() > 1:
		return o, fmt.Errorf("one PATH at most, and after the flags: there are %q", fs.Args())
	case fs.NArg() == 1 && fs.Arg(0) == "":
		return o, errors.New("PATH is empty: leave it out for the default file")
	case o.size <= 0 || o.size%datafile.BlockSize != 0:
		return o, fmt.Errorf("-size %s: the size of a data file is a positive multiple of %s", o.size, readbench.Size(datafile.BlockSize))
	case o.force && o.check:
		return o, errors.New("-force makes a file, -check makes none: leave one out")
	}
	o.path = fs.Arg(0)
	if o.path != "" {
		return o, nil
	}
	var err error
	o.defaultPath = true
	o.path, err = readbench.DefaultFile(o.size, o.seed)
	return o, err
}

// makeFile makes the file unless it is there, and returns the line that says so.
func makeFile(ctx context.Context, o options, stderr io.Writer) (string, error) {
	if o.defaultPath {
		if err := os.MkdirAll(filepath.Dir(o.path), 0o755); err != nil {
			return "", fmt.Errorf("making the directory of the default data file: %w; name a PATH", err)
		}
	}
	// Through a symbolic link: the file is wanted where it points to, perhaps on another disk.
	resolve := func() (string, error) { return filepath.EvalSymlinks(o.path) }
	if real, err := userfile.Within(ctx, "looking for "+o.path, resolve, nil); err == nil && real != filepath.Clean(o.path) {
		o.path = real
	}
	if err := mayWrite(ctx, o.path, o); err != nil {
		return "", err
	}
	if o.force {
		old, err := keepReadersOff(ctx, o.path)
		if err != nil {
			return "", err
		}
		defer old.Close() // only read; also unlocks. A nil file is closed, too
	}
	progress, done := newProgress(stderr, "making "+o.path, int64(o.size))
	start := time.Now()
	made, err := datafile.Create(ctx, datafile.Spec{
		Path: o.path, Size: int64(o.size), Seed: o.seed, Force: o.force, Progress: progress,
	})
	done()
	if err != nil {
		return "", err
	}
	if !made {
		return fmt.Sprintf("there already: %s, %s, seed %d", o.path, o.size, o.seed), nil
	}
	return fmt.Sprintf("made %s, %s, seed %d, %s", o.path, o.size, o.seed, speed(int64(o.size), time.Since(start))), nil
}

// speed says how long something took and how fast that was.
func speed(bytes int64, took time.Duration) string {
	seconds := max(took, time.Microsecond).Seconds()
	return fmt.Sprintf("%.2f s, %.0f MB/s", seconds, float64(bytes)/1e6/seconds)
}
