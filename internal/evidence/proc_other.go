//go:build !linux

package evidence

import (
	"fmt"
	"runtime"
)

func readProc(string, string, *Counters) error {
	return fmt.Errorf("device bytes of a process are unsupported on %s", runtime.GOOS)
}
