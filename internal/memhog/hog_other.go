//go:build !linux

package memhog

import (
	"context"
	"runtime"

	"github.com/readbench/suite/internal/refusal"
)

// A Hog is locked memory, on Linux.
type Hog struct{}

// Take is unsupported here.
func Take(context.Context, int64) (*Hog, error) { return nil, notHere() }

// Leave is unsupported here.
func Leave(context.Context, int64) (*Hog, error) { return nil, notHere() }

func notHere() error {
	return refusal.Errorf(ErrUnsupported, "taking memory is unsupported on %s", runtime.GOOS)
}

// Bytes is 0.
func (*Hog) Bytes() int64 { return 0 }

// Left is unsupported here.
func (*Hog) Left() (int64, error) { return 0, notHere() }

// Close does nothing.
func (*Hog) Close() error { return nil }
