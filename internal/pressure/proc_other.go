//go:build !linux

package pressure

import (
	"runtime"

	"github.com/readbench/suite/internal/refusal"
)

func notHere(what string) error {
	return refusal.Errorf(ErrUnsupported, "%s: unsupported on %s", what, runtime.GOOS)
}

func (s Source) stall(resource string) (*Stall, error) {
	return nil, notHere("pressure stall information on " + resource)
}
func (s Source) reclaim() (*Reclaim, error) { return nil, notHere("pages reclaimed") }
func (s Source) disk() (*Disk, error)       { return nil, notHere("reads of the device " + s.Device) }
