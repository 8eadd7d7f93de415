package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/readbench/suite/internal/datafile"
	"github.com/readbench/suite/internal/userfile"
)

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
