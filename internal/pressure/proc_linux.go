package pressure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/blockdevice"

	"github.com/readbench/suite/internal/refusal"
)

// told returns err as one that wraps ErrUnsupported, if it says that the kernel does not tell, or not to this
// user.
func told(what, remedy string, err error) error {
	for _, cause := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if errors.Is(err, cause) {
			return refusal.Errorf(ErrUnsupported, "%s: %w; %s", what, err, remedy)
		}
	}
	return fmt.Errorf("%s: %w", what, err)
}

func readStall(proc, resource string) (*Stall, error) {
	what := "pressure stall information on " + resource
	root, err := procfs.NewFS(proc)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	psi, err := root.PSIStatsForResource(resource)
	if err != nil {
		return nil, told(what, "it takes a kernel with CONFIG_PSI (Linux 4.20 and later) booted with psi=1", err)
	}
	if psi.Some == nil || psi.Full == nil {
		return nil, fmt.Errorf("%s: %s lacks a line \"some\" or \"full\"", what, filepath.Join(proc, "pressure", resource))
	}
	return &Stall{time.Duration(psi.Some.Total) * time.Microsecond, time.Duration(psi.Full.Total) * time.Microsecond}, nil
}

func readReclaim(proc string) (*Reclaim, error) {
	const what, remedy = "pages reclaimed", "it takes Linux 5.9 or later with CONFIG_VM_EVENT_COUNTERS"
	name := filepath.Join(proc, "vmstat")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, told(what, remedy, err)
	}
	table, err := parseVmstat(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", what, name, err)
	}
	sum := func(keys ...string) (n uint64) {
		for _, key := range keys {
			v, ok := table[key]
			if !ok && err == nil {
				err = refusal.Errorf(ErrUnsupported, "%s: %s has no %s; %s", what, name, key, remedy)
			}
			n += v
		}
		return n
	}
	r := &Reclaim{
		Refaulted:      sum("workingset_refault_file"),
		Scanned:        sum("pgscan_anon", "pgscan_file"),
		Stolen:         sum("pgsteal_anon", "pgsteal_file"),
		MachineScanned: sum("pgscan_direct", "pgscan_kswapd"),
		MachineStolen:  sum("pgsteal_direct", "pgsteal_kswapd"),
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// parseVmstat reads lines of a name and a number.
func parseVmstat(text string) (map[string]uint64, error) {
	table := map[string]uint64{}
	for line := range strings.Lines(text) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		n, err := strconv.ParseUint(value, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("not a name and a number: %q", line)
		}
		table[key] = n
	}
	return table, nil
}

func readDisk(proc, device string) (*Disk, error) {
	what := "reads of the device " + device
	const sector = 512 // whatever the device's own is
	root, err := blockdevice.NewFS(proc, "/sys")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	devices, err := root.ProcDiskstats()
	if err != nil {
		return nil, told(what, "it takes a kernel with CONFIG_BLOCK", err)
	}
	for _, d := range devices {
		if d.DeviceName == device {
			return &Disk{Reads: d.ReadIOs, Bytes: d.ReadSectors * sector}, nil
		}
	}
	return nil, fmt.Errorf("%s: no such device in %s/diskstats", what, proc)
}
