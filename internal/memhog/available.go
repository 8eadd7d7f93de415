package memhog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/readbench/suite/internal/memlimit"
)

// Available is how many bytes this process could take until the machine, or a memory-limited group that it is in,
// has nothing left; see Floor. root is the directory that proc and sys are in, "/" for this machine.
func Available(root string) (int64, error) {
	name := filepath.Join(root, "proc/meminfo")
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, fmt.Errorf("available memory: %w", err)
	}
	machine, err := memAvailable(string(text))
	if err != nil {
		return 0, fmt.Errorf("available memory: %s: %w", name, err)
	}
	c, err := memlimit.Find(root)
	if errors.Is(err, memlimit.ErrUnsupported) { // then no group limits anything
		return machine, nil
	}
	if err != nil {
		return 0, fmt.Errorf("available memory: %w", err)
	}
	group, err := c.Available()
	return min(machine, group), err
}

func memAvailable(meminfo string) (int64, error) {
	for line := range strings.Lines(meminfo) {
		value, ok := strings.CutPrefix(strings.TrimSpace(line), "MemAvailable:")
		if !ok {
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(value, "kB")), 10, 53)
		if err != nil || kib < 0 {
			return 0, fmt.Errorf("not a number of kB: %q", line)
		}
		return kib << 10, nil
	}
	return 0, errors.New("no MemAvailable (Linux 3.14 and later tell it)")
}
