//go:build !linux

package fadvise

import (
	"os"
	"runtime"

	"github.com/readbench/suite/readbench/strategy"
)

// Advice is what a descriptor is advised, once.
type Advice int

// The kinds of advice.
const (
	Normal Advice = iota
	Sequential
	Random
)

// Advise is unsupported here.
func Advise(*os.File, Advice) error {
	return strategy.Unsupported("posix_fadvise: unsupported on %s", runtime.GOOS)
}

// WillNeed is unsupported here.
func WillNeed(int, int64, int64) error {
	return strategy.Unsupported("posix_fadvise: unsupported on %s", runtime.GOOS)
}
