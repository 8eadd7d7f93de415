//go:build !linux

package readbench

import (
	"os"
	"runtime"
)

type fileAdvice int

const (
	adviseNothing fileAdvice = iota
	adviseSequential
	adviseRandom
)

func advise(*os.File, fileAdvice) error {
	return Unsupported("posix_fadvise: unsupported on %s", runtime.GOOS)
}

func willNeed(int, int64, int64) error {
	return Unsupported("posix_fadvise: unsupported on %s", runtime.GOOS)
}
