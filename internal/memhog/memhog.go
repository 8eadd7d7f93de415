// Package memhog takes memory away from everybody on a machine, so that files do not fit into its page cache,
// where no memory-limited group can be made.
//
// The memory is locked anonymous memory of this process: the kernel can neither swap nor reclaim it, and has it
// back when the process ends, in whatever way. So a hog needs no process of its own, and nobody who watches
// over it.
package memhog

import (
	"errors"
	"fmt"
)

// ErrUnsupported is wrapped by errors that say: this machine or this user cannot take that memory.
var ErrUnsupported = errors.New("taking memory unsupported here")

// Floor is what a hog leaves available, in bytes, to the machine and to each memory-limited group that it is
// in: with less, the kernel soon kills processes. What is available is MemAvailable of /proc/meminfo, and in a
// group what is missing to its limit, page cache that can be reclaimed not counted as taken.
const Floor = 512 << 20

// A floorError says that too much was asked for.
type floorError struct {
	what      string
	available int64
}

func (e *floorError) Error() string {
	text := fmt.Sprintf("%s: %d bytes are available, and %d must stay so", e.what, e.available, int64(Floor))
	if most := e.available - Floor; most > 0 {
		return fmt.Sprintf("%s: at most %d can be taken", text, most)
	}
	return text + ": nothing can be taken"
}

func (e *floorError) Unwrap() error { return ErrUnsupported }
