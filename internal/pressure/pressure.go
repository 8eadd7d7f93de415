// Package pressure reads what the kernel tells of a machine short of memory: time that tasks stalled, pages
// that were reclaimed and read again, and what the device was asked for meanwhile. All of it is of the whole
// machine, whoever caused it; a memory-limited group tells of itself (memlimit.Usage).
package pressure

import (
	"errors"
	"time"
)

// ErrUnsupported is wrapped by errors that say: this machine does not tell that.
var ErrUnsupported = errors.New("not told here")

// Totals are running totals since the machine was started. A part is nil where the machine does not tell it; it
// is never zeros instead. Source.Missing says why.
type Totals struct {
	Memory  *Stall // waiting for memory: reclaim, and pages that had been reclaimed too early
	IO      *Stall // waiting for a device
	Reclaim *Reclaim
	Disk    *Disk
}

// A Stall is pressure stall information: for how long at least one task waited, and for how long all that were
// not idle did at the same time.
type Stall struct{ Some, Full time.Duration }

// Reclaim counts pages.
type Reclaim struct {
	Refaulted uint64 // pages of files read again after they had been reclaimed
	Scanned   uint64 // pages looked at by reclaim, also by that of a group at its limit
	Stolen    uint64 // of these, reclaimed

	// The same without the reclaim of groups at their limits: what the whole machine was short of. The kernel
	// counts reclaim by kswapd and directly by whoever needs memory here, and leaves out that of groups.
	MachineScanned uint64
	MachineStolen  uint64
}

// A Disk counts reads of the device.
type Disk struct {
	Reads uint64 // completed, after the block layer merged what was adjacent
	Bytes uint64 // delivered by them
}

// MeanRead is the mean size of a read, in bytes; 0 if there was none.
func (d Disk) MeanRead() float64 {
	if d.Reads == 0 {
		return 0
	}
	return float64(d.Bytes) / float64(d.Reads)
}

// Sub returns t − u; a part that is nil in one of them is nil in the result.
func (t Totals) Sub(u Totals) Totals {
	return Totals{
		Memory: both(t.Memory, u.Memory, Stall.sub), IO: both(t.IO, u.IO, Stall.sub),
		Reclaim: both(t.Reclaim, u.Reclaim, Reclaim.sub), Disk: both(t.Disk, u.Disk, Disk.sub),
	}
}

// Add returns t + u; a part that is nil in one of them is nil in the result. To sum intervals, start with the
// first.
func (t Totals) Add(u Totals) Totals {
	return Totals{
		Memory: both(t.Memory, u.Memory, Stall.add), IO: both(t.IO, u.IO, Stall.add),
		Reclaim: both(t.Reclaim, u.Reclaim, Reclaim.add), Disk: both(t.Disk, u.Disk, Disk.add),
	}
}

func both[T any](a, b *T, f func(a, b T) T) *T {
	if a == nil || b == nil {
		return nil
	}
	c := f(*a, *b)
	return &c
}

func (s Stall) sub(t Stall) Stall { return Stall{s.Some - t.Some, s.Full - t.Full} }
func (s Stall) add(t Stall) Stall { return s.sub(Stall{}.sub(t)) }

func (r Reclaim) sub(s Reclaim) Reclaim {
	return Reclaim{
		Refaulted:      r.Refaulted - s.Refaulted,
		Scanned:        r.Scanned - s.Scanned,
		Stolen:         r.Stolen - s.Stolen,
		MachineScanned: r.MachineScanned - s.MachineScanned,
		MachineStolen:  r.MachineStolen - s.MachineStolen,
	}
}
func (r Reclaim) add(s Reclaim) Reclaim { return r.sub(Reclaim{}.sub(s)) }

func (d Disk) sub(e Disk) Disk { return Disk{d.Reads - e.Reads, d.Bytes - e.Bytes} }
func (d Disk) add(e Disk) Disk { return d.sub(Disk{}.sub(e)) }
