//go:build !linux && !darwin

package readbench

import (
	"os"
	"runtime"
)

func openDirect(f *File) (*os.File, int, error) {
	return nil, 0, Unsupported("direct reads are unsupported on %s", runtime.GOOS)
}

func verifyDirect(string, func() error) error { return nil }
