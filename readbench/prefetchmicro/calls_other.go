//go:build !linux || 386 || arm || mips || mipsle

package prefetchmicro

import (
	"errors"

	"github.com/readbench/suite/readbench/strategy"
)

// caller is never made: no strategy opens.
type caller struct {
	do func(*caller, []strategy.Range) error
}

func (*caller) Read(strategy.Range) ([]byte, error) { return nil, errors.ErrUnsupported }

func unsupported(*caller, []strategy.Range) error { return errors.ErrUnsupported }

var (
	doMincore        = unsupported
	doCachestat      = unsupported
	doNowait         = unsupported
	doMadvise        = unsupported
	doProcessMadvise = unsupported
	doFadvise        = unsupported
	doReadahead      = unsupported
	doPopulate       = unsupported
)
