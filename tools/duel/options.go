package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// options are the command line.
type options struct {
	bench, against string
	variable       string   // of -vary
	values         []string // of it
	race           bool
	resolve, level percent
	budget, turn   time.Duration
	format, out    string
	patience       time.Duration // READBENCH_SETUP_TIMEOUT, and some more
	args           []string      // packages and binaries

	flags string // what -h says of them
}

// A percent is a part of one, written as 1% or 0.01.
type percent float64

func (p *percent) String() string { return strconv.FormatFloat(100*float64(*p), 'g', -1, 64) + "%" }

func (p *percent) Set(text string) error {
	digits, hundred := strings.CutSuffix(strings.TrimSpace(text), "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if hundred {
		x /= 100
	}
	if err != nil || !(x >= 0 && x < 1) {
		return errors.New("a part from 0% to less than 100% is wanted, such as 1% or 0.01")
	}
	*p = percent(x)
	return nil
}

func parse(args []string) (o options, err error) {
	o = options{resolve: 0.01, level: 0.05}
	fs := flag.NewFlagSet("duel", flag.ContinueOnError)
	var help bytes.Buffer
	fs.SetOutput(&help)
	fs.Usage = func() {}
	fs.StringVar(&o.bench, "bench", ".", "the benchmarks, a `regexp` as for go test -bench")
	fs.StringVar(&o.against, "against", "", "the benchmarks that are compared with them, a `regexp`")
	vary := fs.String("vary", "", "`NAME=VALUE,VALUE…`: each contestant has one of the values of this environment variable")
	fs.BoolVar(&o.race, "race", false, "all rows of a case and number of threads compete; who is certainly not the fastest drops out")
	fs.Var(&o.resolve, "resolve", "differences of this `part` and less count as none")
	fs.Var(&o.level, "level", "error probability of all that is said, as a `part`: it is divided among the duels")
	fs.DurationVar(&o.budget, "budget", 10*time.Second, "`time` of a duel's turns, at most; a race of k has k/2 times that")
	fs.DurationVar(&o.turn, "turn", 5*time.Millisecond, "least `length` of a turn")
	fs.StringVar(&o.format, "format", "text", "text, bench or json")
	asJSON := fs.Bool("json", false, "the same as -format json")
	fs.StringVar(&o.out, "o", "", "`file` for the result; words go to standard output")
	for {
		if err := fs.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				help.Reset()
				fs.PrintDefaults()
				o.flags = help.String()
			}
			return o, err
		}
		if fs.NArg() == 0 {
			break
		}
		o.args, args = append(o.args, fs.Arg(0)), fs.Args()[1:] // flags may stand behind
	}
	if *asJSON {
		o.format = "json"
	}
	if *vary != "" {
		name, values, _ := strings.Cut(*vary, "=")
		o.variable, o.values = name, strings.Split(values, ",")
		if name == "" || len(o.values) < 2 {
			return o, fmt.Errorf("-vary %q: NAME=VALUE,VALUE with two values or more is wanted", *vary)
		}
	}
	if o.patience, err = patience(os.Getenv("READBENCH_SETUP_TIMEOUT")); err != nil {
		return o, err
	}
	return o, o.check()
}

func (o *options) check() error {
	ways := 0
	for _, chosen := range []bool{o.against != "", o.values != nil, len(o.args) > 1} {
		if chosen {
			ways++
		}
	}
	switch {
	case len(o.args) == 0:
		return errors.New("a package or a test binary is wanted, such as ./readbench/random")
	case ways == 0 && !o.race:
		return errors.New("one contestant is no duel: give -against, -vary, a second package or binary, or -race")
	case ways > 1 && !o.race:
		return errors.New("contestants differ in one thing only: -against, -vary, or packages and binaries")
	case o.level == 0:
		return errors.New("-level is above 0%")
	case o.budget <= 0:
		return fmt.Errorf("-budget is above 0, and not %s", o.budget)
	case o.turn < 100*time.Microsecond || o.turn > time.Minute:
		return fmt.Errorf("-turn is from 100µs to 1m, and not %s", o.turn)
	case o.format != "text" && o.format != "bench" && o.format != "json":
		return fmt.Errorf("-format is text, bench or json, and not %q", o.format)
	}
	return nil
}

// patience is how long a contestant may be silent in set-up: it gives up by itself after READBENCH_SETUP_TIMEOUT, and says why.
func patience(timeout string) (time.Duration, error) {
	const usual, more = 10 * time.Minute, 30 * time.Second
	if timeout == "" {
		return usual + more, nil
	}
	d, err := time.ParseDuration(timeout)
	if err != nil {
		return 0, fmt.Errorf("READBENCH_SETUP_TIMEOUT=%q: %w", timeout, err)
	}
	return d + more, nil
}

// output is where the result goes.
func (o *options) output(stdout io.Writer) (w io.Writer, close func() error, err error) {
	if o.out == "" {
		return stdout, func() error { return nil }, nil
	}
	f, err := os.Create(o.out)
	if err != nil {
		return nil, nil, err
	}
	return f, f.Close, nil
}
