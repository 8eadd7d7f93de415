//go:build !giouring

package uring

import "fmt"

const giouringBuiltIn = false

func newGiouring(system, uint32, bool) (engine, error) {
	return nil, fmt.Errorf("io_uring: engine %s is not in this program: build it with -tags=giouring -ldflags=-checklinkname=0: %w", EngineGiouring, ErrUnsupported)
}
