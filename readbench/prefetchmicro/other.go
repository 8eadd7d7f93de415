//go:build !linux || 386 || arm || mips || mipsle

package prefetchmicro

import (
	"errors"
	"runtime"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench"
)

type (
	kernel   struct{}
	strategy struct {
		Call
		advice mapping.Advice
		cold   bool
		kernel kernel
	}
)

var linux kernel

func (s strategy) Name() string { return s.name }

func (s strategy) Open(*readbench.File, readbench.Setup) (readbench.Opened, error) {
	return nil, readbench.Unsupported("%s: unsupported on %s/%s: it needs a 64-bit Linux", s.name, runtime.GOOS, runtime.GOARCH)
}

// caller is never made: no strategy opens.
type caller struct{ Call }

func (*caller) Read(readbench.Range) ([]byte, error) { return nil, errors.ErrUnsupported }

func unsupported(*caller, []readbench.Range) error { return errors.ErrUnsupported }

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
