package memlimit

import (
	"errors"

	"github.com/readbench/suite/internal/refusal"
)

// ErrUnsupported is wrapped by errors that say: this machine, or this user, has no memory-limited groups, or (LimitError) none
// with that limit.
var ErrUnsupported = errors.New("memory limits unsupported here")

// unsupported returns an error that wraps ErrUnsupported, and what the format wraps.
func unsupported(format string, args ...any) error {
	return refusal.Errorf(ErrUnsupported, format, args...)
}
