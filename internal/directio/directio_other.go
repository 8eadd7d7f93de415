//go:build !linux && !darwin

package directio

import (
	"os"
	"runtime"

	"github.com/readbench/suite/readbench/strategy"
)

// Open is unsupported here.
func Open(*strategy.File) (fd *os.File, align int, err error) {
	return nil, 0, strategy.Unsupported("direct reads are unsupported on %s", runtime.GOOS)
}

// Refused reports whether an error of a read means that the file system has no direct reads.
func Refused(error) bool { return false }
