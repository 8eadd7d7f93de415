//go:build !linux || 386 || arm || mips || mipsle

package prefetchmicro

import (
	"runtime"

	"github.com/readbench/suite/internal/mapping"
	"github.com/readbench/suite/readbench/config"
	"github.com/readbench/suite/readbench/strategy"
)

type (
	kernel   struct{}
	measured struct {
		Call
		advice mapping.Advice
		cold   bool
		kernel kernel
		config *config.Config
	}
)

var linux kernel

func (s measured) Name() string { return s.name }

func (s measured) Open(*strategy.File, strategy.Setup) (strategy.Opened, error) {
	return nil, strategy.Unsupported("%s: unsupported on %s/%s: it needs a 64-bit Linux", s.name, runtime.GOOS, runtime.GOARCH)
}
