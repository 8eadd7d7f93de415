package strategy

import (
	"errors"

	"github.com/readbench/suite/internal/refusal"
)

// ErrUnsupported is wrapped by errors that say: this cannot run here. The row is skipped with the cause.
var ErrUnsupported = errors.New("unsupported here")

// Unsupported returns an error that wraps ErrUnsupported. Its text names what was attempted, the cause and the
// remedy; %w in the format wraps a cause too.
func Unsupported(format string, args ...any) error {
	return refusal.Errorf(ErrUnsupported, format, args...)
}
