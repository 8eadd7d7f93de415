package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/readbench/suite/internal/duel"
)

// specs are the contestants of the command line. Test binaries of packages are built in dir.
func specs(ctx context.Context, o options, dir string) (all []duel.Spec, err error) {
	for i, arg := range o.args {
		s := duel.Spec{Name: arg, Bench: o.bench}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			if s.Binary, err = filepath.Abs(arg); err != nil {
				return nil, err
			}
		} else if s.Binary, s.Dir, err = build(ctx, arg, filepath.Join(dir, fmt.Sprintf("%d.test", i))); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if o.against != "" {
		for _, s := range all {
			s.Bench = o.against
			all = append(all, s)
		}
	}
	if o.values == nil {
		return all, nil
	}
	var varied []duel.Spec
	for _, s := range all {
		for _, value := range o.values {
			s.Vary = o.variable + "=" + value
			varied = append(varied, s)
		}
	}
	return varied, nil
}

// build makes the test binary of a package.
func build(ctx context.Context, pattern, to string) (binary, dir string, err error) {
	out, err := command(ctx, "list", "-f", "{{.Dir}}", "--", pattern)
	if err != nil {
		return "", "", fmt.Errorf("%s is neither a file nor a package: %w", pattern, err)
	}
	dirs := strings.Fields(out)
	if lines := strings.Split(out, "\n"); len(lines) == 1 {
		dirs = lines // which may have spaces
	}
	if len(dirs) != 1 {
		return "", "", fmt.Errorf("%s are %d packages: name one", pattern, len(dirs))
	}
	if _, err := command(ctx, "test", "-c", "-o", to, pattern); err != nil {
		return "", "", fmt.Errorf("building the test binary of %s: %w", pattern, err)
	}
	if _, err := os.Stat(to); err != nil {
		return "", "", fmt.Errorf("%s has no tests", pattern)
	}
	return to, dirs[0], nil
}

// command runs go ($GO) and returns its output, without white space around it.
func command(ctx context.Context, args ...string) (string, error) {
	tool := os.Getenv("GO")
	if tool == "" {
		tool = "go"
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // go removes its temporary files
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", tool, args[0], err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
