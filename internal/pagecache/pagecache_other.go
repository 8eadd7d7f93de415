//go:build !linux

package pagecache

import (
	"context"
	"os"
	"runtime"

	"github.com/readbench/suite/internal/refusal"
)

// Resident is unsupported here.
func Resident(*os.File, int64, int64) (Residency, error) {
	return Residency{}, unsupported("asking for residency")
}

// An Evictor removes a file from the page cache; unsupported here.
type Evictor struct {
	Off     int64        // see evict_linux.go
	Limit   float64      // see evict_linux.go
	DropAll func()       // see evict_linux.go
	Unmap   func() error // see evict_linux.go
}

// Evict is unsupported here.
func (Evictor) Evict(context.Context, *os.File, int64) (Residency, error) {
	return Residency{}, unsupported("evicting")
}

// InMemory is not told here.
func InMemory(*os.File) bool { return false }

// DropAll is unsupported here.
func DropAll() error { return unsupported("dropping the machine's page cache") }

func unsupported(what string) error {
	return refusal.Errorf(ErrUnsupported, "%s is unsupported on %s", what, runtime.GOOS)
}
