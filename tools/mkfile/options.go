package main

// The command line.

import (
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/readbench/config"
)

// options is the command line.
type options struct {
	path        string
	size        config.Size
	seed        uint64
	force       bool
	check       bool
	given       map[string]bool // flags that were set
	defaultPath bool            // path was not given
}

func parse(args []string, stderr io.Writer) (options, error) {
	o := options{given: map[string]bool{}}
	fs := flag.NewFlagSet("mkfile", flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run reports errors
	fs.TextVar(&o.size, "size", config.DefaultSize, "`bytes` of the file: a multiple of 4KiB, such as 16GiB")
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
		return o, fmt.Errorf("-size %s: the size of a data file is a positive multiple of %s", o.size, config.Size(datafile.BlockSize))
	case o.force && o.check:
		return o, errors.New("-force makes a file, -check makes none: leave one out")
	}
	o.path = fs.Arg(0)
	if o.path != "" {
		return o, nil
	}
	var err error
	o.defaultPath = true
	o.path, err = config.DefaultFile(o.size, o.seed)
	return o, err
}
