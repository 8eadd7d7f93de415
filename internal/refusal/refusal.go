// Package refusal makes errors that say: this cannot be had here. They wrap a package's own sentinel (ErrUnsupported), by
// which programs tell them from others, and their text is for people: what, why, remedy, and nothing of the sentinel.
package refusal

import (
	"errors"
	"fmt"
)

// Errorf returns an error with the text of fmt.Errorf that wraps sentinel, and what %w in the format wraps.
func Errorf(sentinel error, format string, args ...any) error {
	return &refused{sentinel, fmt.Errorf(format, args...)}
}

type refused struct{ sentinel, cause error }

func (e *refused) Error() string   { return e.cause.Error() }
func (e *refused) Unwrap() []error { return []error{e.sentinel, e.cause} }

// Innermost returns the refusal that err comes from: of those of Errorf that it wraps, the one that wraps no other; the first
// one if it joins several. So what is around it, such as who wanted it and in which case, does not tell two causes apart. It is nil
// if there is none.
func Innermost(err error) error {
	r := (*refused)(nil)
	if !errors.As(err, &r) {
		return nil
	}
	if deeper := Innermost(r.cause); deeper != nil {
		return deeper
	}
	return r
}
