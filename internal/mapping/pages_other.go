//go:build !linux

package mapping

import (
	"fmt"
	"runtime"
)

var errUnsupported = fmt.Errorf("control over a mapping's pages is unsupported on %s", runtime.GOOS)

// Populate is unsupported here.
func (m *Map) Populate(off, n int64) error { return errUnsupported }

// Drop is unsupported here.
func (m *Map) Drop(off, n int64) error { return errUnsupported }
