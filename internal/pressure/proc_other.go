//go:build !linux

package pressure

import (
	"runtime"

	"github.com/readbench/suite/internal/refusal"
)

func notHere(what string) error {
	return refusal.Errorf(ErrUnsupported, "%s: unsupported on %s", what, runtime.GOOS)
}

func readStall(_, resource string) (*Stall, error) {
	return nil, notHere("pressure stall information on " + resource)
}
func readReclaim(string) (*Reclaim, error)     { return nil, notHere("pages reclaimed") }
func readDisk(_, device string) (*Disk, error) { return nil, notHere("reads of the device " + device) }
