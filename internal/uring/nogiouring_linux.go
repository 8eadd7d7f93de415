//go:build !giouring

package uring

const giouringBuiltIn = false

func newGiouring(system, uint32, bool) (engine, error) {
	return nil, unsupported("engine %s is not in this program; build it with -tags=giouring -ldflags=-checklinkname=0", EngineGiouring)
}
