package refusal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/readbench/suite/internal/refusal"
)

var (
	errInner = errors.New("inner sentinel")
	errOuter = errors.New("outer sentinel")
)

// The text is the format's, and both the sentinel and the cause can be asked for.
func TestErrorf(t *testing.T) {
	err := refusal.Errorf(errInner, "evicting %s: %w; take another", "f", fs.ErrPermission)
	if want := "evicting f: permission denied; take another"; err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if !errors.Is(err, errInner) || !errors.Is(err, fs.ErrPermission) || errors.Is(err, errOuter) {
		t.Errorf("%v: it wraps the wrong errors", err)
	}
}

// What is around a refusal does not make it another one.
func TestInnermost(t *testing.T) {
	inner := refusal.Errorf(errInner, "it is switched off")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"itself":                  {inner, "it is switched off"},
		"in a refusal":            {refusal.Errorf(errOuter, "hot: %w", inner), "it is switched off"},
		"in another error":        {fmt.Errorf("row: %w", refusal.Errorf(errOuter, "hot: %w; and more", fmt.Errorf("x: %w", inner))), "it is switched off"},
		"the first of two":        {refusal.Errorf(errOuter, "%w; and %w", inner, refusal.Errorf(errInner, "it is too small")), "it is switched off"},
		"joined":                  {errors.Join(fs.ErrClosed, inner), "it is switched off"},
		"one that wraps no other": {refusal.Errorf(errOuter, "cold: %w", fs.ErrPermission), "cold: permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := refusal.Innermost(tc.err); got == nil || got.Error() != tc.want {
				t.Errorf("%v, want %q", got, tc.want)
			}
		})
	}
	for _, err := range []error{nil, fs.ErrClosed, fmt.Errorf("%w", errInner)} {
		if got := refusal.Innermost(err); got != nil {
			t.Errorf("of %v: %v, want none", err, got)
		}
	}
}
