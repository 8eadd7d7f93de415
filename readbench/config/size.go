package config

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/dustin/go-humanize"
)

// A Size is a number of bytes. Its text form is a number with or without one of the binary units: 4096, 16KiB,
// 1GiB. Forms that tools read differently (16k, 16KB) are refused.
type Size int64

var (
	sizeForm = regexp.MustCompile(`^[0-9]{1,18}(KiB|MiB|GiB|TiB|B)?$`)
	maxSize  = int64(1) << 60
)

// UnmarshalText parses the text form.
func (s *Size) UnmarshalText(text []byte) error {
	t := string(text)
	if !sizeForm.MatchString(t) {
		return fmt.Errorf("a size is a whole number of bytes or of KiB, MiB, GiB, TiB, such as 4096, 16KiB or 1GiB")
	}
	if n, err := strconv.ParseInt(t, 10, 64); err == nil {
		*s = Size(n)
	} else {
		n, err := humanize.ParseBytes(t)
		if err != nil {
			return fmt.Errorf("not a size: %w", err)
		}
		if n > uint64(maxSize) {
			return fmt.Errorf("a size is at most %s", Size(maxSize))
		}
		*s = Size(n)
	}
	if int64(*s) > maxSize {
		return fmt.Errorf("a size is at most %s", Size(maxSize))
	}
	return nil
}

// String returns the shortest exact text form: 16KiB, but 16000.
func (s Size) String() string {
	units := []string{"", "KiB", "MiB", "GiB", "TiB"}
	n, u := int64(s), 0
	for u+1 < len(units) && n != 0 && n%1024 == 0 {
		n, u = n/1024, u+1
	}
	return strconv.FormatInt(n, 10) + units[u]
}

// MarshalText returns the text form.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
