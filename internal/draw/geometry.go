package draw

import (
	"math/bits"

	"github.com/readbench/suite/internal/shape"
	"github.com/readbench/suite/readbench/strategy"
)

// A Geometry cuts a file into slots. In random order a slot is one range and one page (or one unit of direct reads, if
// that is more) long, and its read starts anywhere in its first page: so a read touches as many pages as one at a
// random offset, and two slots never share a page. Hot and cold use the same slots. Direct reads start where their
// slot starts, which is aligned; sequential ones lie side by side.
type Geometry struct {
	Base     int64  // where the first slot starts, in bytes
	Slots    int64  // number of slots
	SlotSize int64  // bytes
	shift    uint   // of a 64-bit random number, to make it a start within a page
	start    uint64 // the last such start, 0 if reads are aligned; a power of two less 1
}

// NullFactor is how much longer a row that reads nothing takes the file to be: epochs that are over in
// microseconds would be all it measures.
const NullFactor = 1 << 10

// Cut makes the slots of a row on a file of fileSize bytes. unit is the page or the unit of direct reads; faultStride is
// how far apart the touches of a row of faults are, so that each is one fault.
func Cut(s *shape.Shape, fileSize int64, unit, faultStride int, direct bool) Geometry {
	var g Geometry
	switch {
	case s.Units > 0: // a slot is a unit, and a range's offset its number
		g = even(s.Units, 1)
	case s.Order == strategy.OrderSequential:
		g = even(fileSize, s.MaxRange)
	case s.Effect == shape.Fault:
		g = even(fileSize, faultStride)
	default:
		g = random(fileSize, s.MaxRange, unit, direct)
	}
	return g
}

// random has slots for reads at places as good as any.
func random(fileSize int64, maxRange, unit int, direct bool) Geometry {
	u := int64(unit)
	g := Geometry{SlotSize: (int64(maxRange)+u-1)/u*u + u, shift: uint(64-bits.TrailingZeros(uint(unit))) & 63}
	g.Slots = fileSize / g.SlotSize
	if !direct {
		g.start = uint64(unit) - 1
	}
	return g
}

// even has slots side by side, and reads that start where their slots start.
func even(fileSize int64, slotSize int) Geometry {
	return Geometry{Slots: fileSize / int64(slotSize), SlotSize: int64(slotSize)}
}

// Part is what one of several has of the slots, if others read the same file: each of-th slot, from the index-th on. The parts have no
// page in common, and are spread over the file alike.
func (g Geometry) Part(index, of int) Geometry {
	g.Base += int64(index) * g.SlotSize
	g.Slots = (g.Slots - int64(index) + int64(of) - 1) / int64(of)
	g.SlotSize *= int64(of)
	return g
}

// offset is where the read of a slot starts; random is uniform over all 64-bit numbers.
func (g *Geometry) offset(slot int64, random uint64) int64 {
	return g.Base + slot*g.SlotSize + int64(random>>(g.shift&63)&g.start) // &63 tells the compiler that the shift is one
}
