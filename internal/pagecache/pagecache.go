// Package pagecache looks at and controls which pages of a file the page cache holds.
package pagecache

import (
	"errors"
	"fmt"
)

// ErrUnsupported is wrapped when this kernel, file system or user cannot do what was asked.
var ErrUnsupported = errors.New("page cache control unsupported")

// Residency says how much of a range is in the page cache.
type Residency struct {
	Pages    int64 // pages that the range touches
	Resident int64 // of these, in the page cache
}

// Share is the resident share, 0…1.
func (r Residency) Share() float64 {
	if r.Pages == 0 {
		return 0
	}
	return float64(r.Resident) / float64(r.Pages)
}

func (r Residency) String() string {
	return fmt.Sprintf("%d of %d pages resident (%.2f %%)", r.Resident, r.Pages, 100*r.Share())
}
