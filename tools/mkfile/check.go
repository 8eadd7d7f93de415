package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/sh"
	"github.com/readbench/suite/readbench/config"
)

// checkFile checks all of the file, and returns the line that says that it is right.
func checkFile(ctx context.Context, o options, stderr io.Writer) (string, error) {
	content, size, err := expected(ctx, o)
	if err != nil {
		return "", fmt.Errorf("checking %s: %w", o.path, err)
	}
	f, _, err := openRegular(ctx, o.path)
	if err != nil {
		return "", fmt.Errorf("checking %s: %w", o.path, err)
	}
	defer f.Close() // only read
	progress, done := newProgress(stderr, "checking "+o.path, size)
	start := time.Now()
	err = content.CheckAll(ctx, f, size, progress)
	done()
	if err != nil {
		return "", fmt.Errorf("checking %w; it is made anew by: %s", err, sh.Command("go", "run", "github.com/readbench/suite/tools/mkfile", "-force",
			"-size", config.Size(size).String(), "-seed", strconv.FormatUint(content.Seed(), 10), o.path))
	}
	return fmt.Sprintf("ok %s, %s, seed %d, %s", o.path, config.Size(size), content.Seed(), speed(size, time.Since(start))), nil
}

// expected returns what the file should hold, from its size, its first block and the flags.
func expected(ctx context.Context, o options) (c datafile.Content, size int64, err error) {
	f, size, err := openRegular(ctx, o.path)
	if err != nil {
		return c, 0, err
	}
	if err := f.Close(); err != nil {
		return c, 0, err
	}
	if size < datafile.BlockSize {
		return c, 0, fmt.Errorf("it has %d bytes: truncated, or no data file, which has at least %d", size, datafile.BlockSize)
	}
	block, _, err := firstBlock(ctx, o.path)
	if err != nil {
		return c, 0, err
	}
	c, ok := datafile.Identify(block)
	switch {
	case !ok && !o.given["seed"]:
		return c, 0, fmt.Errorf("block 0 is that of no data file: it is none, or bad there (with -seed you learn where)")
	case !ok:
		c = datafile.New(o.seed) // the check will say what is wrong
	case o.given["seed"] && c.Seed() != o.seed:
		return c, 0, fmt.Errorf("it is a data file of seed %d, -seed says %d", c.Seed(), o.seed)
	}
	if size%datafile.BlockSize != 0 {
		return c, 0, fmt.Errorf("truncated: it has %d bytes, not a multiple of %d", size, datafile.BlockSize)
	}
	if o.given["size"] && size != int64(o.size) {
		return c, 0, fmt.Errorf("it has %d bytes, -size says %d (%s)", size, int64(o.size), o.size)
	}
	return c, size, nil
}
