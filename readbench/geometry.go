package readbench

import "math/bits"

// geometry cuts a file into slots. A slot is one range and one page (or one unit of direct reads, if that is
// more) long, and its read starts anywhere in its first page: so a read touches as many pages as one at a
// random offset, and two slots never share a page. Hot and cold use the same slots. Direct reads start where
// their slot starts, which is aligned.
type geometry struct {
	slots    int64  // number of slots
	slotSize int64  // bytes
	shift    uint   // of a 64-bit random number, to make it a start within a page
	start    uint64 // the last such start, 0 if reads are aligned; a power of two less 1
}

// nullFactor is how much longer a row that reads nothing takes the file to be: epochs that are over in
// microseconds would be all it measures.
const nullFactor = 1 << 10

func newGeometry(fileSize int64, maxRange, unit int, direct bool) geometry {
	u := int64(unit)
	g := geometry{slotSize: (int64(maxRange)+u-1)/u*u + u, shift: uint(64-bits.TrailingZeros(uint(unit))) & 63}
	g.slots = fileSize / g.slotSize
	if !direct {
		g.start = uint64(unit) - 1
	}
	return g
}

// offset is where the read of a slot starts; random is uniform over all 64-bit numbers.
func (g *geometry) offset(slot int64, random uint64) int64 {
	return slot*g.slotSize + int64(random>>(g.shift&63)&g.start) // &63 tells the compiler that the shift is one
}
