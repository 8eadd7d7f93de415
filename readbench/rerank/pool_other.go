//go:build !linux

package rerank

import (
	"runtime"

	"github.com/readbench/suite/readbench"
)

// Pool is unsupported here.
func Pool() readbench.Strategy { return &pool{} }

const mostWorkers = 1

type pool struct{}

func (*pool) Name() string { return "pool" }

func (*pool) use(int) {}

func (*pool) Open(*readbench.File, readbench.Setup) (readbench.Opened, error) {
	return nil, readbench.Unsupported("pool: unsupported on %s", runtime.GOOS)
}
